// SPDX-License-Identifier: Apache-2.0
//
// The grammar, and Java's StreamTokenizer below it: what is a word, a quoted string and a comment.
#include "sasl/jaas.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/result.h"

namespace drover::sasl {
namespace {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kText, kSign };
  Kind kind = Kind::kEnd;
  std::string text = {};  // of a word or a quoted string
  char sign = 0;
  int line = 0;
};

bool starts_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// Words of other alphabets are words, too.
bool starts_word(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || c == '$' || c == '_' || c == '*' || static_cast<unsigned char>(c) >= 0x80;
}

bool continues_word(char c) { return starts_word(c) || starts_number(c) || c == '-'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Token next() {
    skip_blanks_and_comments();
    Token token{.line = line_};
    if (at_end()) return token;
    const char c = peek();
    if (c == '"') return quoted(std::move(token));
    if (starts_word(c)) {
      token.kind = Token::Kind::kText;
      while (!at_end() && continues_word(peek())) token.text += take();
    } else {
      token.kind = Token::Kind::kSign;
      token.sign = take();
    }
    return token;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return text_[at_]; }
  char take() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }
  void skip_line() {
    while (!at_end() && peek() != '\n' && peek() != '\r') take();
  }

  void skip_blanks_and_comments() {
    while (!at_end()) {
      if (static_cast<unsigned char>(peek()) <= ' ') {
        take();
      } else if (text_.substr(at_).starts_with("/*")) {
        skip_block();
      } else if (peek() == '/') {
        skip_line();
      } else {
        return;
      }
    }
  }

  // A comment without an end takes the rest of the file.
  void skip_block() {
    const std::size_t end = std::min(text_.find("*/", at_ + 2), text_.size());
    while (at_ < end) take();
    at_ = std::min(end + 2, text_.size());
  }

  // As in Java, the end of the line ends the string, too.
  Token quoted(Token token) {
    token.kind = Token::Kind::kText;
    take();
    while (!at_end() && peek() != '"' && peek() != '\n' && peek() != '\r') {
      if (peek() == '\\') {
        take();
        if (!at_end()) escape(token.text);
      } else {
        token.text += take();
      }
    }
    if (!at_end() && peek() == '"') take();
    return token;
  }

  void escape(std::string& text) {
    const char c = take();
    if (c >= '0' && c <= '7') return octal(c, text);
    constexpr std::string_view kNames = "abfnrtv";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v";
    const std::size_t known = kNames.find(c);
    text += known == kNames.npos ? c : kMeanings[known];
  }

  // A character of Latin-1, up to \377; what would be more is a shorter number and a digit.
  void octal(char first, std::string& text) {
    int digits_left = first <= '3' ? 2 : 1;
    int value = first - '0';
    while (digits_left-- > 0 && !at_end() && peek() >= '0' && peek() <= '7')
      value = value * 8 + (take() - '0');
    if (value >= 0x80) text += static_cast<char>(0xC0 | (value >> 6));
    text += static_cast<char>(value >= 0x80 ? 0x80 | (value & 0x3F) : value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

// Java's PropertyExpander: ${name} is a system property, ${/} a slash, and ${{...}} stays as it is.
std::expected<std::string, std::string> expand(std::string_view value, const PropertyLookup& property) {
  std::string result;
  for (;;) {
    const std::size_t start = value.find("${");
    if (start == value.npos) break;
    const bool verbatim = value.substr(start).starts_with("${{");
    const std::size_t end = value.find(verbatim ? "}}" : "}", start);
    if (end == value.npos) break;
    result += value.substr(0, start);
    if (verbatim) {
      result += value.substr(start, end + 2 - start);
    } else {
      const std::string_view name = value.substr(start + 2, end - start - 2);
      const auto known = name == "/" ? std::string("/") : property(name);
      if (!known) return std::unexpected("there is no property " + shown(name));
      result += *known;
    }
    value.remove_prefix(end + (verbatim ? 2 : 1));
  }
  return result += value;
}

class Parser {
 public:
  Parser(std::string_view text, const PropertyLookup& property) : tokens_(text), property_(property) {
    advance();
  }

  std::expected<JaasFile, JaasError> file() {
    JaasFile sections;
    while (next_.kind != Token::Kind::kEnd) {
      TRY_ASSIGN(JaasSection section, this->section());
      if (find_section(sections, section.name))
        return std::unexpected(JaasError{section.line, "section " + shown(section.name) + " is there twice"});
      sections.push_back(std::move(section));
    }
    return sections;
  }

 private:
  std::expected<JaasSection, JaasError> section() {
    JaasSection result{.line = next_.line};
    TRY_ASSIGN(result.name, text("the name of a section"));
    TRY(sign('{'));
    while (!is_sign('}')) {
      TRY_ASSIGN(JaasEntry entry, this->entry());
      result.entries.push_back(std::move(entry));
    }
    advance();
    TRY(sign(';'));
    return result;
  }

  std::expected<JaasEntry, JaasError> entry() {
    JaasEntry result{.line = next_.line};
    TRY_ASSIGN(result.module, text("the class of a login module"));
    TRY(control_flag());
    while (!is_sign(';')) TRY(option(result));
    advance();
    return result;
  }

  // Which modules must succeed. With one module, and there is always one, the flag changes nothing.
  std::expected<void, JaasError> control_flag() {
    constexpr std::array<std::string_view, 4> kFlags{"required", "requisite", "sufficient", "optional"};
    const int line = next_.line;
    TRY_ASSIGN(std::string flag, text("required, requisite, sufficient or optional"));
    std::ranges::transform(flag, flag.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (std::ranges::find(kFlags, flag) != kFlags.end()) return {};
    return std::unexpected(JaasError{line, "expected required, requisite, sufficient or optional"});
  }

  std::expected<void, JaasError> option(JaasEntry& entry) {
    const int line = next_.line;
    TRY_ASSIGN(const std::string key, text("an option or ;"));
    TRY(sign('='));
    TRY_ASSIGN(std::string written, text("a value (in double quotes unless it starts with a letter)"));
    const bool is_empty = written.empty();
    auto value = expand(written, property_);
    wipe(written);
    if (!value) return std::unexpected(JaasError{line, shown(key) + ": " + value.error()});
    if (value->empty() && !is_empty)
      return std::unexpected(JaasError{line, shown(key) + ": its properties are empty"});
    entry.options.insert_or_assign(key, Secret(*std::move(value)));
    return {};
  }

  bool is_sign(char c) const { return next_.kind == Token::Kind::kSign && next_.sign == c; }

  std::expected<void, JaasError> sign(char wanted) {
    if (!is_sign(wanted)) return expected(std::string(1, wanted));
    advance();
    return {};
  }

  std::expected<std::string, JaasError> text(std::string_view what) {
    if (next_.kind != Token::Kind::kText) return expected(what);
    std::string result = std::move(next_.text);
    advance();
    return result;
  }

  // Never shows a text that was found: it may be a password with a quote missing.
  std::unexpected<JaasError> expected(std::string_view what) const {
    std::string message = "expected " + std::string(what) + ", found ";
    if (next_.kind == Token::Kind::kEnd) {
      message += "the end of the file";
    } else {
      message += next_.kind == Token::Kind::kSign ? shown({&next_.sign, 1}) : "a word";
    }
    return std::unexpected(JaasError{next_.line, std::move(message)});
  }

  void advance() { next_ = tokens_.next(); }

  Tokenizer tokens_;
  const PropertyLookup& property_;
  Token next_;
};

}  // namespace

std::expected<JaasFile, JaasError> parse_jaas(std::string_view text, const PropertyLookup& property) {
  if (text.size() > kJaasBytesMax) return std::unexpected(JaasError{1, "larger than 1 MiB"});
  return Parser(text, property).file();
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShownMax = 128;
  std::string result(text.substr(0, kShownMax));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, '?');
  return result;
}

const JaasSection* find_section(const JaasFile& file, std::string_view name) {
  const auto found = std::ranges::find(file, name, &JaasSection::name);
  return found == file.end() ? nullptr : &*found;
}

}  // namespace drover::sasl
