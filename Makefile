# SPDX-License-Identifier: GPL-2.0-or-later
#
# hugefill: hugefill.c + cmd/*.c + lib/*.c -> ./hugefill; everything else that is built lies in out/.
#
#   CC, CFLAGS, CPPFLAGS, LDFLAGS   as usual; a change of them rebuilds
#   SAN=address,undefined           the program with these sanitizers, as out/san-.../hugefill, and the
#                                   tests with it; SAN= is none at all, also for the unit tests
#   OUT=DIR                         another place than out/ (then the program lies there too)
#   HUGEFILL=FILE                   test this program
#   TESTS="FILE..."                 check-unit, check-cli, ...: only these
#   FUZZ_TIME=SECONDS               of each fuzz target
#   PROVE_FLAGS="-v"                what prove is to do besides
#   VM="NAME..."                    check-vm, vm-shell: these guests
#   V=1                             shows the commands

ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
OUT ?= out
VERSION := $(shell cat VERSION)

PACKAGES := mount smartcols numa json-c
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
# libnuma cannot be asked for it.
NUMA_VERSION := $(shell $(PKG_CONFIG) --modversion numa 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wvla -Wformat=2 -Wundef
HF_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DHF_VERSION='"$(VERSION)"' \
	-DHF_NUMA_VERSION='"$(NUMA_VERSION)"' $(PKG_CFLAGS)
HF_CFLAGS := -std=gnu11 -fPIE -pthread -fstack-protector-strong $(WARNINGS)
LIBS := $(PKG_LIBS) -lm
HF_LDFLAGS := -pie -pthread -Wl,-z,relro,-z,now

LIB := $(sort $(wildcard lib/*.c))
CMD := $(sort $(wildcard cmd/*.c))
UNIT := $(sort $(wildcard test/unit/test_*.c))
FUZZ := $(sort $(wildcard test/fuzz/fuzz_*.c))
THREADED := workers fill populate progress apply
FUZZ_CC ?= clang
FUZZ_TIME ?= 60

# A variant is one set of sanitizers with its own objects: "obj" has none, "asan" is what unit tests
# are linked with unless SAN says otherwise.
comma := ,
ifeq ($(origin SAN),undefined)
BIN_VARIANT := obj
UNIT_VARIANT := asan
SAN_asan := address,undefined
else ifeq ($(SAN),)
BIN_VARIANT := obj
UNIT_VARIANT := obj
else
BIN_VARIANT := san-$(subst $(comma),-,$(SAN))
UNIT_VARIANT := $(BIN_VARIANT)
SAN_$(BIN_VARIANT) := $(SAN)
endif
VARIANTS := $(sort $(BIN_VARIANT) $(UNIT_VARIANT))

san_flags = $(if $(SAN_$(1)),-fsanitize=$(SAN_$(1)) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Fortified calls hide from the sanitizers what they look for. What is built for looking also looks at
# its descriptors (hugefill.c).
compile = $(CC) $(HF_CPPFLAGS) $(if $(SAN_$(1)),-DHF_DEBUG_FDS,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) $(CPPFLAGS) \
	$(HF_CFLAGS) $(san_flags) $(CFLAGS)
link = $(CC) $(HF_CFLAGS) $(san_flags) $(CFLAGS) $(HF_LDFLAGS) $(LDFLAGS)

BIN := $(if $(filter outobj,$(OUT)$(BIN_VARIANT)),hugefill,$(OUT)/$(BIN_VARIANT)/hugefill)
UNIT_BINS := $(UNIT:%.c=$(OUT)/$(UNIT_VARIANT)/%)
HUGEFILL ?= $(abspath $(BIN))
HF_OBJECTS := $(abspath $(OUT)/$(BIN_VARIANT))
export HUGEFILL HF_OBJECTS PROVE_FLAGS
unexport ARGP_HELP_FMT

all: $(BIN)
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all unit deps deps-build deps-fleet deps-peers deps-perf deps-vm demo check check-house check-unit check-cli check-kernel \
	check-faults check-fleet check-fleet-guest check-peers check-sanitized check-valgrind check-tsan check-memory fuzz fuzz-build fuzz-run lint format perf perf-grow check-vm vm-shell \
	install uninstall dist deb rpm check-packages deps-packages deps-consumers check-consumers clean FORCE

say = $(if $(V),,@echo "  $(1)  $@"; )

# A stamp holds what its dependents were made with, and changes only when that does.
quote = '$(subst ','\'',$(1))'
stamp = @mkdir -p $(@D); printf '%s\n' $(call quote,$(1)) | cmp -s - $@ || printf '%s\n' $(call quote,$(1)) >$@

define variant
$(OUT)/$(1)/%.o: %.c $(OUT)/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(call compile,$(1)) -MMD -MP -c -o $$@ $$<

$(OUT)/$(1)/flags: FORCE
	$(if $(PKG_LIBS),,@echo "libraries are missing ($(PACKAGES)): make deps" >&2; exit 1)
	$$(call stamp,$$(call compile,$(1)))

$(OUT)/$(1)/link: FORCE
	$$(call stamp,$$(call link,$(1)) $(LIBS) $(LIB) $(CMD))

$(OUT)/$(1)/libhugefill.a: $(LIB:%.c=$(OUT)/$(1)/%.o) $(OUT)/$(1)/link
	@rm -f $$@
	$$(call say,AR)$(AR) rcs $$@ $$(filter %.o,$$^)

$(OUT)/$(1)/test/unit/test_%: $(OUT)/$(1)/test/unit/test_%.o $(OUT)/$(1)/libhugefill.a
	$$(call say,LD)$$(call link,$(1)) -o $$@ $$^ $(LIBS)

-include $(wildcard $(patsubst %,$(OUT)/$(1)/%/*.d,. lib cmd test/unit test/fuzz))
endef
$(foreach v,$(VARIANTS),$(eval $(call variant,$(v))))

MAIN_OBJECTS := $(patsubst %.c,$(OUT)/$(BIN_VARIANT)/%.o,hugefill.c $(CMD))
$(BIN): $(MAIN_OBJECTS) $(OUT)/$(BIN_VARIANT)/libhugefill.a
	$(call say,LD)$(call link,$(BIN_VARIANT)) -o $@ $^ $(LIBS)

unit: $(UNIT_BINS)

# What is needed, and how it is installed: tools/deps.sh. Where nothing is missing it does nothing.
deps:
	@tools/deps.sh build check
deps-build:
	@tools/deps.sh build
deps-fleet:
	@tools/deps.sh build check fleet
deps-perf:
	@tools/deps.sh build perf
deps-peers:
	@tools/deps.sh build check peers
deps-vm:
	@tools/deps.sh build check vm
deps-packages:
	@tools/deps.sh build check packages
deps-consumers:
	@tools/deps.sh build check consumers

# Libraries that deps has just installed are seen by the next make only.
demo: deps-build
	@$(MAKE) --no-print-directory all
	@tools/demo.sh

check: deps
	+@status=0; for tier in house unit cli kernel; do \
		$(MAKE) --no-print-directory check-$$tier || status=1; \
	done; exit $$status

check-house: $(BIN)
	@test/run house $(TESTS)
check-unit: $(UNIT_BINS)
	@test/run unit $(or $(TESTS),$(UNIT_BINS))
check-cli: $(BIN)
	@test/run cli $(TESTS)
check-kernel: $(BIN)
	@test/run kernel $(TESTS)
check-faults: $(BIN)
	@test/run faults $(TESTS)
check-fleet: $(BIN)
	@test/run fleet $(TESTS)
check-fleet-guest: $(BIN)
	@test/fleet/guest
# Programs of others, and what they do, on pages that hugefill prepared.
check-peers: $(BIN)
	@test/run peers $(TESTS)
# The runbooks in doc/, with the programs that they are about: make deps-consumers.
check-consumers: $(BIN)
	@test/run consumers $(TESTS)

# The same program built another way: what names this build must not reach that one.
other = env -u HUGEFILL -u HF_OBJECTS $(MAKE) --no-print-directory

# The whole suite with ASan and UBSan. The unit tier has them anyway.
check-sanitized:
	+@$(other) SAN=address,undefined all
	+@status=0; for tier in cli kernel; do \
		$(other) SAN=address,undefined check-$$tier || status=1; \
	done; exit $$status

# memcheck has its own build: it does not bear ASan's.
check-valgrind:
	+@$(other) OUT=$(OUT)/valgrind CPPFLAGS='$(CPPFLAGS) -DHF_DEBUG_FDS' check-memory \
		TESTS=test/memory/valgrind.bats

check-tsan:
	+@$(other) SAN=thread check-unit UNIT='$(filter $(THREADED:%=test/unit/test_%.c),$(UNIT))'
	+@$(other) SAN=thread check-memory TESTS=test/memory/tsan.bats

check-memory: $(BIN)
	@test/run memory $(TESTS)

# libFuzzer has a main of its own; fuzz_argv calls hugefill's, and replaces what it says it replaces.
FUZZ_DIR := $(OUT)/$(BIN_VARIANT)/test/fuzz
FUZZ_BINS := $(FUZZ:test/fuzz/%.c=$(FUZZ_DIR)/%)
FUZZ_WRAP := argp_parse argp_error atexit hf_signals_catch hf_signals_deadline hf_machine_read hf_apply_run \
	hf_release_run hf_mountpoint_make hf_mountpoint_remove hf_sysroot_write hf_sysroot_write_u64 \
	hf_sysroot_link hf_mounts_mount hf_mounts_umount hf_hugefile_create hf_hugefile_open hf_lock_take \
	hf_grow_run hf_grow_shrink hf_bench_run run_command

$(FUZZ_DIR)/hugefill.o: hugefill.c $(OUT)/$(BIN_VARIANT)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(call compile,$(BIN_VARIANT)) -UHF_DEBUG_FDS -Dmain=hugefill_main \
		-Wno-missing-prototypes -MMD -MP -c -o $@ $<

$(FUZZ_DIR)/fuzz_argv: $(FUZZ_DIR)/hugefill.o $(CMD:%.c=$(OUT)/$(BIN_VARIANT)/%.o)
$(FUZZ_DIR)/fuzz_argv: FUZZ_LINK := $(FUZZ_WRAP:%=-Wl,--wrap=%)
$(FUZZ_DIR)/fuzz_%: $(FUZZ_DIR)/fuzz_%.o $(FUZZ_DIR)/fuzz.o $(OUT)/$(BIN_VARIANT)/libhugefill.a
	$(call say,LD)$(call link,$(BIN_VARIANT)) -fsanitize=fuzzer $(FUZZ_LINK) -o $@ $(filter %.o,$^) \
		$(filter %.a,$^) $(LIBS)

# Each target for FUZZ_TIME seconds; what a target fails on lies in out/fuzz then.
fuzz:
	+@if test/fuzz/run probe $(FUZZ_CC); then \
		$(other) CC='$(FUZZ_CC)' SAN=fuzzer-no-link,address,undefined fuzz-run; \
	fi
fuzz-build: $(FUZZ_BINS)
fuzz-run: fuzz-build
	@test/fuzz/run $(FUZZ_TIME) $(or $(TESTS),$(FUZZ_BINS))

lint:
	@MAKE='$(MAKE)' tools/lint.sh

format:
	find hugefill.c cmd lib test -name '*.[ch]' -exec clang-format -i {} +

perf: $(BIN)
	@test/perf/run
	@test/perf/status

# Pools grown in parallel, here and in guests.
perf-grow: $(BIN)
	@test/perf/grow

# Guests: VM="NAME..." takes some of test/vm/machines. HF_VM_JOBS: how many at a time.
check-vm: $(BIN)
	@test/vm/run $(VM)
vm-shell: $(BIN)
	@test/vm/run --shell $(or $(VM),numa4)

# The source archive and the packages made from it, in $(OUT)/packages: packaging/build says more.
dist deb rpm:
	@OUT='$(OUT)' packaging/build $@

check-packages:
	@test/run packages $(TESTS)

SBIN := $(DESTDIR)$(PREFIX)/sbin
SHARE := $(DESTDIR)$(PREFIX)/share
UNITDIR ?= $(PREFIX)/lib/systemd/system
UNITS := $(DESTDIR)$(UNITDIR)
INSTALLED := $(SBIN)/hugefill $(SHARE)/man/man8/hugefill.8 \
	$(SHARE)/bash-completion/completions/hugefill $(SHARE)/zsh/site-functions/_hugefill \
	$(SHARE)/doc/hugefill/README.md $(SHARE)/doc/hugefill/NEWS $(SHARE)/doc/hugefill/hugefill.schema.json \
	$(UNITS)/hugefill.service $(UNITS)/hugefill@.service \
	$(SHARE)/doc/hugefill/examples/postgresql.conf $(SHARE)/doc/hugefill/examples/libvirt.conf \
	$(SHARE)/doc/hugefill/runbooks.md

install: $(BIN)
	install -D -m 0755 $(BIN) $(SBIN)/hugefill
	install -D -m 0644 man/hugefill.8 $(SHARE)/man/man8/hugefill.8
	install -D -m 0644 completions/hugefill.bash $(SHARE)/bash-completion/completions/hugefill
	install -D -m 0644 completions/_hugefill $(SHARE)/zsh/site-functions/_hugefill
	install -D -m 0644 README.md $(SHARE)/doc/hugefill/README.md
	install -D -m 0644 NEWS $(SHARE)/doc/hugefill/NEWS
	install -D -m 0644 doc/hugefill.schema.json $(SHARE)/doc/hugefill/hugefill.schema.json
	install -D -m 0644 doc/runbooks.md $(SHARE)/doc/hugefill/runbooks.md
	install -d $(UNITS) $(SHARE)/doc/hugefill/examples
	for unit in hugefill.service hugefill@.service; do \
		sed 's,=hugefill ,=$(PREFIX)/sbin/hugefill ,' systemd/$$unit >$(UNITS)/$$unit && \
			chmod 0644 $(UNITS)/$$unit || exit 1; \
	done
	for example in systemd/examples/*.conf; do \
		sed '/^Exec/s,\([+ ]\)hugefill ,\1$(PREFIX)/sbin/hugefill ,' $$example \
			>$(SHARE)/doc/hugefill/examples/$${example##*/} && \
			chmod 0644 $(SHARE)/doc/hugefill/examples/$${example##*/} || exit 1; \
	done

uninstall:
	rm -f $(INSTALLED)
	-rmdir $(SHARE)/doc/hugefill/examples $(SHARE)/doc/hugefill

clean:
	rm -rf $(OUT) hugefill
