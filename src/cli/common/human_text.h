// SPDX-License-Identifier: Apache-2.0
//
// Values as people read them: times, sizes, data that may be anything, and rows in columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drover::cli::observe {

// "850 ms", "42 s", "3 min 5 s", "2 h 5 min", "3 d 4 h". Negative values (clocks differ) count as 0.
std::string duration_text(std::int64_t ms);
// In the local zone: "21:05:13" of today, "2026-11-15 21:05:13" otherwise.
std::string time_text(std::int64_t ms, std::int64_t now_ms);
// 950, 12.3k, 4.56M
std::string count_text(double count);

bool is_utf8_text(std::string_view bytes);  // and without control characters
// Quoted, with what a terminal must not get replaced, and at most so many characters: "\"host-7\"",
// "17 bytes".
std::string data_text(std::string_view data, std::size_t length_max = 40);
// The same for names, without quotes.
std::string safe_text(std::string_view text);

std::int64_t wall_clock_ms();

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Columns as wide as their widest cell; an empty column is left out.
  std::vector<std::string> lines() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace drover::cli::observe
