// SPDX-License-Identifier: Apache-2.0
#include "monitor/java_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace drover::server {
namespace {

// The shortest decimal digits that read back as `value`, and the power of ten of the first one.
struct Digits {
  std::string digits;
  int exponent = 0;
};

Digits shortest_digits(double value) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), end.ptr);  // "9.145e-01"
  const std::size_t e = text.find('e');
  Digits result{.digits = std::string(text.substr(0, e)),
                .exponent = std::atoi(std::string(text.substr(e + 1)).c_str())};
  std::erase(result.digits, '.');
  return result;
}

}  // namespace

std::string java_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  const std::string sign = std::signbit(value) ? "-" : "";
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign + "0.0";

  const auto [digits, exponent] = shortest_digits(magnitude);
  const auto tail = [](std::string_view rest) { return rest.empty() ? std::string("0") : std::string(rest); };
  if (magnitude < 1e-3 || magnitude >= 1e7) {
    return fmt::format("{}{}.{}E{}", sign, digits[0], tail(std::string_view(digits).substr(1)), exponent);
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  std::string whole = digits;
  const std::size_t places = static_cast<std::size_t>(exponent) + 1;
  if (whole.size() < places) whole.resize(places, '0');
  return sign + whole.substr(0, places) + "." + tail(std::string_view(whole).substr(places));
}

std::string java_date(WallTime time) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_time<milliseconds> point{milliseconds(time.ms)};
  const sys_days day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(point - day)};
  return fmt::format("{} {} {:02} {:02}:{:02}:{:02} UTC {}", kDays[weekday{day}.c_encoding()],
                     kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     static_cast<int>(date.year()));
}

}  // namespace drover::server
