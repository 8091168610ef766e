@test "speed" {
	s=$EPOCHREALTIME; for i in {1..200}; do /usr/bin/true; done; e=$EPOCHREALTIME
	echo "# 200 fork+exec: $(awk "BEGIN{print $e-$s}")" >&3
	s=$EPOCHREALTIME; for i in {1..200}; do (:); done; e=$EPOCHREALTIME
	echo "# 200 fork: $(awk "BEGIN{print $e-$s}")" >&3
	s=$EPOCHREALTIME; for i in {1..1000}; do :; done; e=$EPOCHREALTIME
	echo "# 1000 loops: $(awk "BEGIN{print $e-$s}")" >&3
}
