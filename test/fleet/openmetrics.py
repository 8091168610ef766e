# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads OpenMetrics from standard input with the strict parser of Prometheus' client library, and prints
a line per sample: name, labels in the order of their names, value; tabs between them."""
import sys

from prometheus_client.openmetrics.parser import text_fd_to_metric_families

for family in text_fd_to_metric_families(sys.stdin):
    for sample in family.samples:
        labels = ",".join("%s=%s" % item for item in sorted(sample.labels.items()))
        print(sample.name, labels, int(sample.value), sep="\t")
