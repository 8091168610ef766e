#!/usr/bin/env bats
@test "x" {
systemctl --no-pager --failed >&3
systemctl status hugefill hugefill-consumer --no-pager >&3
journalctl -b --no-pager -u hugefill >&3
cat /run/consumer >&3
systemd-analyze >&3
}
