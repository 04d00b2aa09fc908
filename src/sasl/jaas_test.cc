// SPDX-License-Identifier: Apache-2.0
//
// The syntax of JAAS files, as Java's parser takes it.
#include "sasl/jaas.h"

#include <gtest/gtest.h>

namespace drover::sasl {
namespace {

std::optional<std::string> home_only(std::string_view name) {
  if (name == "user.home") return "/home/zk";
  if (name == "empty") return "";
  return std::nullopt;
}

std::expected<JaasFile, JaasError> parse(std::string_view text) { return parse_jaas(text, home_only); }

JaasFile file_of(std::string_view text) {
  auto parsed = parse(text);
  EXPECT_TRUE(parsed) << parsed.error().line << ": " << parsed.error().message;
  return parsed ? *parsed : JaasFile{};
}

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  EXPECT_FALSE(parsed);
  return parsed ? "" : std::to_string(parsed.error().line) + ": " + parsed.error().message;
}

// The value of the only option of a file with one section and one module.
std::string value_of(const std::string& written) {
  const JaasFile file = file_of("S { M required key=" + written + "; };");
  if (file.size() != 1 || file[0].entries.size() != 1 || !file[0].entries[0].options.contains("key"))
    return "?";
  return file[0].entries[0].options.at("key").reveal();
}

TEST(Jaas, HasSectionsWithModulesWithOptions) {
  const JaasFile file = file_of(R"(
Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_super="admin secret"
  user_bob=plain;
};
Client {
  com.sun.security.auth.module.Krb5LoginModule REQUIRED useKeyTab=true keyTab="/etc/zk.keytab";
  other.Module optional;
};
)");
  ASSERT_EQ(file.size(), 2u);
  EXPECT_EQ(file[0].name, "Server");
  EXPECT_EQ(file[0].line, 2);
  ASSERT_EQ(file[0].entries.size(), 1u);
  const JaasEntry& users = file[0].entries[0];
  EXPECT_EQ(users.module, "org.apache.zookeeper.server.auth.DigestLoginModule");
  EXPECT_EQ(users.line, 3);
  EXPECT_EQ(users.options.at("user_super").reveal(), "admin secret");
  EXPECT_EQ(users.options.at("user_bob").reveal(), "plain");
  ASSERT_EQ(file[1].entries.size(), 2u);
  EXPECT_EQ(file[1].entries[0].options.at("keyTab").reveal(), "/etc/zk.keytab");
  EXPECT_TRUE(file[1].entries[1].options.empty());
}

TEST(Jaas, AnEmptyFileHasNoSection) {
  EXPECT_TRUE(file_of("").empty());
  EXPECT_TRUE(file_of(" \n// nothing\n").empty());
  EXPECT_TRUE(file_of("/* never closed").empty());
}

TEST(Jaas, ASectionIsFoundByItsExactName) {
  const JaasFile file = file_of("Server { M required; }; Client { };");
  ASSERT_NE(find_section(file, "Server"), nullptr);
  EXPECT_EQ(find_section(file, "Server")->entries.size(), 1u);
  EXPECT_NE(find_section(file, "Client"), nullptr);
  EXPECT_EQ(find_section(file, "server"), nullptr);
}

TEST(Jaas, CommentsAreThoseOfJava) {
  const JaasFile file =
      file_of("S { // one\n M /* two\n lines */ required / the rest of this line\n a=b; };");
  ASSERT_EQ(file.size(), 1u);
  EXPECT_EQ(file[0].entries[0].options.at("a").reveal(), "b");
  EXPECT_EQ(error_of("# Zookeeper\nS { M required; };"), "1: expected the name of a section, found #");
}

TEST(Jaas, AWordMayHaveDotsAndSignsInside) {
  EXPECT_EQ(value_of("a.b-c_d$e*9"), "a.b-c_d$e*9");
  EXPECT_EQ(value_of("\xC3\xBC"), "\xC3\xBC");
  const JaasFile file = file_of("S { M required \"user_a@b\"=x; };");
  EXPECT_EQ(file[0].entries[0].options.at("user_a@b").reveal(), "x");
}

TEST(Jaas, AQuotedValueMayHaveEscapes) {
  EXPECT_EQ(value_of(R"("")"), "");
  EXPECT_EQ(value_of(R"("a \"b\" \\ c/d#{};=")"), R"(a "b" \ c/d#{};=)");
  EXPECT_EQ(value_of(R"("\t\n\r\a\b\f\v\q")"), "\t\n\r\a\b\f\vq");
  EXPECT_EQ(value_of(R"("\101\60\0601\477")"),
            "A0"
            "01"
            "'7");
  EXPECT_EQ(value_of(R"("\374\377")"), "\xC3\xBC\xC3\xBF") << "Latin-1 becomes UTF-8";
  EXPECT_EQ(value_of("\"\\\xC3\xBC\""), "\xC3\xBC");
}

TEST(Jaas, TheEndOfTheLineEndsAQuotedValue) {
  EXPECT_EQ(value_of("\"open\n"), "open");
  EXPECT_EQ(value_of("\"open\r\n"), "open");
}

TEST(Jaas, PropertiesOfTheSystemAreExpanded) {
  EXPECT_EQ(value_of(R"("${user.home}${/}zk.keytab")"), "/home/zk/zk.keytab");
  EXPECT_EQ(value_of(R"("a${user.home")"), "a${user.home");
  EXPECT_EQ(value_of(R"("${{user.home}}${/}")"), "${{user.home}}/");
  EXPECT_EQ(value_of(R"("$5 {x}")"), "$5 {x}");
  EXPECT_EQ(error_of("S { M required\n key=\"${no.such}\"; };"), "2: key: there is no property no.such");
  EXPECT_EQ(error_of("S { M required key=\"${empty}\"; };"), "1: key: its properties are empty");
}

TEST(Jaas, TheLastOfTwoEqualOptionsWins) {
  const JaasFile file = file_of("S { M required a=b a=c; };");
  EXPECT_EQ(file[0].entries[0].options.at("a").reveal(), "c");
}

TEST(Jaas, AnErrorNamesTheLine) {
  EXPECT_EQ(error_of("S {\n M required\n a=b\n};"), "4: expected an option or ;, found }");
  EXPECT_EQ(error_of("S {\n M required a=b;\n}\nT { M required; };"), "4: expected ;, found a word");
  EXPECT_EQ(error_of("S {\n M required a=b;\n}"), "3: expected ;, found the end of the file");
  EXPECT_EQ(error_of("S { M a=b; };"), "1: expected required, requisite, sufficient or optional");
  EXPECT_EQ(error_of("S { M required; };\n\nS { M required; };"), "3: section S is there twice");
  EXPECT_EQ(error_of("S { M required /*\n*/ 'a'=b; };"), "2: expected an option or ;, found '");
}

// Java reads an unquoted number as a number, and refuses it, too.
TEST(Jaas, AValueThatBeginsWithADigitNeedsQuotes) {
  for (const char* written : {"123", "-x", ".5", "a@b"}) {
    EXPECT_FALSE(parse("S { M required key=" + std::string(written) + "; };")) << written;
  }
  EXPECT_EQ(error_of("S { M required user_bob=123; };"),
            "1: expected a value (in double quotes unless it starts with a letter), found 1");
}

TEST(Jaas, AnErrorNeverShowsAPassword) {
  const std::string error = error_of("S { M required user_bob \"secret\"; };");
  EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  EXPECT_EQ(error_of("S { M required a=\"b\" \"\n\"secret\" c; };").find("secret"), std::string::npos);
}

TEST(Jaas, AFileThatIsTooLargeIsRefused) {
  EXPECT_TRUE(parse(std::string(kJaasBytesMax, ' ')));
  EXPECT_FALSE(parse(std::string(kJaasBytesMax + 1, ' ')));
}

}  // namespace
}  // namespace drover::sasl
