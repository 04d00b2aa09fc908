#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Draws the raw results of `compare.py --json FILE` or `ensemble.py --json FILE` as one picture: throughput of
# each server, row by row.
#
#   bench/plot.py FILE docs/performance.svg

import html
import json
import pathlib
import sys

WIDTH, LABEL, BAR, GAP = 760, 150, 14, 16
SERVERS = (("java", "Java 3.8.0", "#b0b7c3"), ("drover", "drover", "#2f6fde"), ("zkecho", "ceiling", "#dfe3ea"))
THROUGHPUT = ("get", "set", "create", "mixed")  # how the names of such rows begin


def rate(result):
    """Requests per second: the two programs name it differently."""
    return result["ops_s"] if "ops_s" in result else result["value"]


def main():
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    rows = [(name, row) for name, row in results.items() if name.startswith(THROUGHPUT) and "p50" not in name]
    if not rows:
        sys.exit(f"plot: {sys.argv[1]} has no row of throughput")
    servers = [server for server in SERVERS if all(server[0] in row for _, row in rows)]
    most = max(rate(row[kind]) for _, row in rows for kind, _, _ in servers)
    scale = (WIDTH - LABEL - 90) / most
    parts, y = [], 34
    for x, (_, label, colour) in zip((LABEL, LABEL + 110, LABEL + 190), servers):
        parts.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/>'
                     f'<text x="{x + 17}" y="20">{label}</text>')
    for name, row in rows:
        middle = y + len(servers) * BAR / 2 + 4
        parts.append(f'<text x="{LABEL - 10}" y="{middle}" text-anchor="end">{html.escape(name)}</text>')
        for kind, _, colour in servers:
            value = rate(row[kind])
            length = max(1, value * scale)
            parts.append(f'<rect x="{LABEL}" y="{y}" width="{length:.0f}" height="{BAR - 2}" fill="{colour}"/>'
                         f'<text x="{LABEL + length + 6:.0f}" y="{y + BAR - 4}">{value / 1000:.0f} k/s</text>')
            y += BAR
        y += GAP
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" '
           f'font-size="11" fill="#333"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n')
    pathlib.Path(sys.argv[2]).write_text(svg)


if __name__ == "__main__":
    main()
