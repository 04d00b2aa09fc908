// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a configuration, and the messages for a wrong one.
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/properties.h"
#include "config/config_testing.h"
#include "config/keys.h"

namespace drover::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ConfigDefaults, WithoutArgumentsTheServerIsStandaloneOnLoopback) {
  const ServerConfig c = config_of(load({}, {}));
  EXPECT_EQ(c.client, (Endpoint{"127.0.0.1", 2181}));
  EXPECT_EQ(c.data_dir, "drover-data");
  EXPECT_EQ(c.data_log_dir, "drover-data");
  EXPECT_FALSE(c.ensemble.is_distributed());
}

TEST(ConfigDefaults, PropertiesAloneChangeThePortButNotTheAddress) {
  const ServerConfig c = config_of(load({}, {"-DclientPort=2182", "-DdataDir=/d"}));
  EXPECT_EQ(c.client, (Endpoint{"127.0.0.1", 2182}));
  EXPECT_EQ(c.data_dir, "/d");
  EXPECT_EQ(c.data_log_dir, "/d");
}

TEST(ConfigDefaults, AFileUsesZooKeepersDefaultsWhereTheyAreSafe) {
  const ServerConfig c = config_of(load_lines(""));
  EXPECT_EQ(c.client, (Endpoint{"", 2181}));
  EXPECT_EQ(c.tick_time_ms, 3000);
  EXPECT_EQ(c.min_session_timeout_ms, 6000);
  EXPECT_EQ(c.max_session_timeout_ms, 60000);
  EXPECT_EQ(c.limits.connections_per_ip, 60);
  EXPECT_EQ(c.limits.connections, kConnectionsByDescriptors);
  EXPECT_EQ(c.limits.jute_max_buffer, 1048575);
  EXPECT_EQ(c.limits.outstanding_requests, 20'000);
  EXPECT_EQ(c.storage.purge_interval_ms, 3'600'000);
  EXPECT_EQ(c.words, Whitelist::standard());
}

TEST(ConfigForms, TheShortFormIsThatOfZooKeepersStandaloneMain) {
  const ServerConfig c = config_of(load({}, {"2191", "/data", "1500", "5"}));
  EXPECT_EQ(c.client, (Endpoint{"", 2191}));
  EXPECT_EQ(c.data_dir, "/data");
  EXPECT_EQ(c.tick_time_ms, 1500);
  EXPECT_EQ(c.max_session_timeout_ms, 30000);
  EXPECT_EQ(c.limits.connections_per_ip, 5);
  EXPECT_EQ(error_of(load({}, {"port", "/data"})), "PORT=port: expected a whole number from 0 to 65535");
}

TEST(ConfigForms, TooManyOrUnknownArgumentsAreRefused) {
  EXPECT_THAT(error_of(load({}, {"1", "2", "3", "4", "5"})), HasSubstr("too many arguments"));
  EXPECT_EQ(error_of(load({}, {"--verbose"})), "unknown option --verbose: expected -Dkey=value");
}

TEST(ConfigForms, TheErrorNamesAMissingFile) {
  EXPECT_EQ(error_of(load({}, {"zoo.cfg"})), "cannot open zoo.cfg: No such file or directory");
}

TEST(ConfigForms, OnlyThePropertiesOfJvmFlagsAreUsed) {
  EXPECT_THAT(
      parse_jvm_flags("-Xmx1000m -Dzookeeper.a=1  '-Dkey=two words' -Dpath=\"/a b\"\\ c -XX:+UseG1GC -D"),
      ElementsAre("-Dzookeeper.a=1", "-Dkey=two words", "-Dpath=/a b c"));
  EXPECT_THAT(parse_jvm_flags(" \t\n"), IsEmpty());
  const ServerConfig c = config_of(load_lines("", {"--jvm-flags=-Xmx1g -Dzookeeper.snapCount=77"}));
  EXPECT_EQ(c.storage.snap_count, 77);
}

TEST(ConfigSources, TheCommandLineWinsOverTheFileWithAndWithoutPrefix) {
  const std::string file = "snapCount=1000\njute.maxbuffer=4096\n";
  EXPECT_EQ(config_of(load_lines(file)).storage.snap_count, 1000);
  EXPECT_EQ(config_of(load_lines(file, {"-Dzookeeper.snapCount=5"})).storage.snap_count, 5);
  EXPECT_EQ(config_of(load_lines(file, {"-DsnapCount=6"})).storage.snap_count, 6);
  EXPECT_EQ(config_of(load_lines(file, {"-Djute.maxbuffer=8192"})).limits.jute_max_buffer, 8192);
  EXPECT_THAT(warnings_of(load_lines(file, {"-DsnapCount=6"})), IsEmpty());
}

TEST(ConfigSources, TheLastOfARepeatedKeyWinsAndIsReported) {
  const Loaded loaded = load_lines("tickTime=1000\ntickTime=2000\n");
  EXPECT_EQ(config_of(loaded).tick_time_ms, 2000);
  EXPECT_THAT(warnings_of(loaded), ElementsAre("zoo.cfg:4: tickTime is set again and replaces line 3"));
  EXPECT_THAT(warnings_of(load_lines("", {"-DsnapCount=5", "-Dzookeeper.snapCount=6"})),
              ElementsAre("-Dzookeeper.snapCount is set again; the last value wins"));
}

TEST(ConfigSources, AnUnknownKeyIsOneWarningWithFileLineAndName) {
  EXPECT_THAT(warnings_of(load_lines("tickTme=2000\n", {"-Dzookeeper.nonsense=1"})),
              ElementsAre("zoo.cfg:3: tickTme: unknown key", "-Dzookeeper.nonsense: unknown key"));
  EXPECT_THAT(warnings_of(load_lines("zookeeper.snapCount=5\n")),
              ElementsAre(HasSubstr("keys are written without zookeeper.")));
}

TEST(ConfigSources, AKeyCannotForgeALogLine) {
  EXPECT_THAT(warnings_of(load_lines("a\\nb\\u001bc=1\n")),
              ElementsAre("zoo.cfg:3: a\\nb\\x1bc: unknown key"));
}

TEST(ConfigSources, NamesWithControlCharactersAreRefused) {
  EXPECT_EQ(error_of(load_lines("dataLogDir=/a\\u0000b\n")),
            "zoo.cfg:3: dataLogDir=/a\\x00b: must not contain control characters");
  EXPECT_THAT(error_of(load_lines("server.1=a\\nb:1:2\n")), HasSubstr("must not contain control characters"));
}

TEST(ConfigSources, PropertiesOfTheJvmAreIgnoredSilently) {
  EXPECT_THAT(
      warnings_of(load_lines("", {"-Djava.net.preferIPv4Stack=true", "-Dcom.sun.management.jmxremote"})),
      IsEmpty());
}

TEST(ConfigValues, ABadNumberIsAnErrorThatNamesTheExpectedRange) {
  EXPECT_EQ(error_of(load_lines("tickTime=abc\n")),
            "zoo.cfg:3: tickTime=abc: expected a whole number of milliseconds from 1 to 2147483647");
  EXPECT_EQ(error_of(load_lines("", {"-Dzookeeper.globalOutstandingLimit=0"})),
            "-Dzookeeper.globalOutstandingLimit=0: expected a whole number from 1 to 2147483647");
  for (const std::string bad : {"", "1.5", "2147483648", "99999999999999999999", "--1", "1 2", "0x10"}) {
    EXPECT_THAT(error_of(load_lines("tickTime=" + bad + "\n")), HasSubstr("expected a whole number")) << bad;
  }
}

TEST(ConfigValues, SystemPropertiesAreReadInJavasDecodeNotation) {
  const auto buffer = [](const std::string& value) {
    return config_of(load_lines("", {"-Djute.maxbuffer=" + value})).limits.jute_max_buffer;
  };
  EXPECT_EQ(buffer("0xfffff"), 1048575);
  EXPECT_EQ(buffer("#ff"), 255);
  EXPECT_EQ(buffer("010"), 8);
  EXPECT_EQ(buffer("+10"), 10);
  EXPECT_EQ(config_of(load_lines("maxClientCnxns=010\n")).limits.connections_per_ip, 10);
}

TEST(ConfigValues, BlanksAroundAValueDoNotMatter) {
  EXPECT_EQ(config_of(load_lines("tickTime = 1234 \t\n")).tick_time_ms, 1234);
}

TEST(ConfigValues, SwitchesOfTheFileAreStrictAndPropertiesLenient) {
  EXPECT_EQ(error_of(load_lines("multiAddress.enabled=yes\n")),
            "zoo.cfg:3: multiAddress.enabled=yes: expected true or false");
  EXPECT_TRUE(config_of(load_lines("multiAddress.enabled=TRUE\n")).ensemble.multi_address);
  EXPECT_TRUE(config_of(load_lines("extendedTypesEnabled=TRUE\n")).features.extended_types);
  const Loaded odd = load_lines("extendedTypesEnabled=yes\n");
  EXPECT_FALSE(config_of(odd).features.extended_types);
  EXPECT_THAT(warnings_of(odd),
              ElementsAre("zoo.cfg:3: extendedTypesEnabled=yes: neither true nor false; false is used"));
}

TEST(ConfigValues, YesNoSwitchesAreReadAsInJava) {
  EXPECT_FALSE(config_of(load_lines("forceSync=no\n")).storage.force_sync);
  EXPECT_TRUE(config_of(load_lines("forceSync=false\n")).storage.force_sync);
  EXPECT_TRUE(config_of(load_lines("skipACL=yes\n")).auth.skip_acl);
  EXPECT_FALSE(config_of(load_lines("skipACL=true\n")).auth.skip_acl);
}

TEST(ConfigValues, DangerousSettingsAreAcceptedWithAWarning) {
  EXPECT_THAT(warnings_of(load_lines("forceSync=no\n")), Contains(HasSubstr("lose acknowledged writes")));
  EXPECT_THAT(warnings_of(load_lines("skipACL=yes\n")),
              Contains(HasSubstr("every client may read and change")));
}

TEST(ConfigValues, ValuesBelowJavasMinimumAreRaisedToIt) {
  const Loaded loaded = load_lines("autopurge.snapRetainCount=1\nsnapCount=0\n");
  EXPECT_EQ(config_of(loaded).storage.purge_snap_retain_count, 3);
  EXPECT_EQ(config_of(loaded).storage.snap_count, 2);
  EXPECT_THAT(warnings_of(loaded), ElementsAre("zoo.cfg:3: autopurge.snapRetainCount=1: too small; 3 is used",
                                               "zoo.cfg:4: snapCount=0: too small; 2 is used"));
}

TEST(ConfigValues, ThePurgeIntervalIsHoursUnlessAUnitIsGiven) {
  const auto interval = [](const std::string& value) {
    return config_of(load_lines("autopurge.purgeInterval=" + value + "\n")).storage.purge_interval_ms;
  };
  EXPECT_EQ(interval("0"), 0);
  EXPECT_EQ(interval("24"), 86'400'000);
  EXPECT_EQ(interval("500ms"), 500);
  EXPECT_EQ(interval("5s"), 5000);
  EXPECT_EQ(interval("2m"), 120'000);
  EXPECT_EQ(interval("1d"), 86'400'000);
  for (const std::string bad : {"-1", "ms", "1w", "9223372036854775807h", ""}) {
    EXPECT_FALSE(load_lines("autopurge.purgeInterval=" + bad + "\n")) << bad;
  }
}

TEST(ConfigValues, NegativeLimitsMeanNoLimitAsInJava) {
  EXPECT_EQ(config_of(load_lines("maxClientCnxns=0\n")).limits.connections_per_ip, 0);
  EXPECT_EQ(config_of(load_lines("maxClientCnxns=-5\n")).limits.connections_per_ip, 0);
  EXPECT_EQ(config_of(load_lines("maxCnxns=-1\n")).limits.connections, 0);
}

TEST(ConfigValues, SizesInKilobytesBecomeBytes) {
  EXPECT_EQ(config_of(load_lines("outputBufferLimitInKb=16\n")).limits.output_max_bytes, 16384);
  EXPECT_EQ(config_of(load_lines("outputBufferTotalLimitInKb=2048\n")).limits.output_total_bytes, 2 << 20);
  EXPECT_EQ(config_of(load_lines("log.maxfilesize=5MB\n")).log.file_bytes_max, 5 << 20);
}

TEST(ConfigValues, TheSessionRatePerAddressIsOffIfConnectionsPerAddressAreUnlimited) {
  const auto rate_of = [](const std::string& lines) {
    return config_of(load_lines(lines)).limits.sessions_per_second_per_address;
  };
  EXPECT_EQ(rate_of(""), 1000);
  EXPECT_EQ(rate_of("maxClientCnxns=0\n"), 0);
  EXPECT_EQ(rate_of("maxClientCnxns=0\nsessionCreationRatePerAddress=50\n"), 50);
  EXPECT_EQ(rate_of("sessionCreationRatePerAddress=0\n"), 0);
}

TEST(ConfigValues, TheExtraSizeDefaultsToJuteMaxbuffer) {
  EXPECT_EQ(config_of(load_lines("", {"-Djute.maxbuffer=5000"})).limits.jute_extra_size, 5000);
  EXPECT_EQ(config_of(load_lines("", {"-Djute.maxbuffer=50"})).limits.jute_extra_size, 1024);
  EXPECT_EQ(config_of(load_lines("", {"-Dzookeeper.jute.maxbuffer.extrasize=2048"})).limits.jute_extra_size,
            2048);
}

TEST(ConfigValues, TheWhitelistOfFourLetterWordsIsRead) {
  EXPECT_TRUE(config_of(load_lines("4lw.commands.whitelist=*\n")).words.allows("dump"));
  EXPECT_TRUE(config_of(load_lines("4lw.commands.whitelist=stat\n", {"-Dreadonlymode.enabled=true"}))
                  .words.allows("isro"));
  EXPECT_FALSE(config_of(load_lines("4lw.commands.whitelist=stat\n")).words.allows("isro"));
  EXPECT_THAT(warnings_of(load_lines("4lw.commands.whitelist=stat,status\n")),
              ElementsAre(HasSubstr("status is not a four-letter word")));
}

TEST(ConfigValues, TheFirstBadKeyOfTheFileIsTheError) {
  EXPECT_THAT(error_of(load_lines("tickTime=a\nsyncLimit=b\n")), HasSubstr("zoo.cfg:3:"));
}

TEST(ConfigRules, TheDirectoryAndAPortMustBeSet) {
  EXPECT_EQ(error_of(load(Files().with("z", "clientPort=1\n"), {"z"})), "z: dataDir is not set");
  EXPECT_EQ(error_of(load(Files().with("z", "dataDir=/d\n"), {"z"})),
            "z: neither clientPort nor secureClientPort is set");
  EXPECT_EQ(error_of(load(Files().with("z", "dataDir=/d\nclientPortAddress=::1\n"), {"z"})),
            "z: clientPortAddress is set but clientPort is not");
  EXPECT_THAT(error_of(load_lines("secureClientPortAddress=::1\n")), HasSubstr("secureClientPort is not"));
}

TEST(ConfigRules, SessionTimeoutsDefaultToTicksAndMustBeInOrder) {
  const ServerConfig c = config_of(load_lines("tickTime=100\nmaxSessionTimeout=777\n"));
  EXPECT_EQ(c.min_session_timeout_ms, 200);
  EXPECT_EQ(c.max_session_timeout_ms, 777);
  EXPECT_EQ(config_of(load_lines("tickTime=2147483647\n")).max_session_timeout_ms, 2147483647);
  EXPECT_THAT(error_of(load_lines("minSessionTimeout=9000\nmaxSessionTimeout=8000\n")),
              HasSubstr("minSessionTimeout (9000) must not be larger than maxSessionTimeout (8000)"));
}

TEST(ConfigKeysOfZooKeeper, ThrottlesAreOffAndReadAsJavaReadsThem) {
  const Limits off = config_of(load_lines("")).limits;
  EXPECT_EQ(off.connection_throttle.tokens, 0);
  EXPECT_EQ(off.request_throttle.requests_max, 0u);
  EXPECT_EQ(off.large_request_threshold, -1);
  const Limits on = config_of(load_lines("request_throttle_max_requests=0x10\nthrottled_op_wait_time=500\n"
                                         "request_throttle_drop_stale=false\nlargeRequestThreshold=1000\n",
                                         {"-Dzookeeper.connection_throttle_tokens=7",
                                          "-Dzookeeper.connection_throttle_drop_increase=0.5"}))
                        .limits;
  EXPECT_EQ(on.request_throttle.requests_max, 16u);
  EXPECT_EQ(on.request_throttle.wait_max_ms, 500);
  EXPECT_FALSE(on.request_throttle.drop_stale);
  EXPECT_EQ(on.large_request_threshold, 1000);
  EXPECT_EQ(on.connection_throttle.tokens, 7);
  EXPECT_EQ(on.connection_throttle.drop_increase, 0.5);
  for (const char* value : {"2", "-0.1", "nan", "x", ""}) {
    EXPECT_THAT(error_of(load_lines(std::string("connection_throttle_drop_decrease=") + value + "\n")),
                HasSubstr("expected a number from 0 to 1"))
        << value;
  }
}

TEST(ConfigFile, AnEndlessFileIsRefused) {
  const auto text = read_config_file("/dev/zero");
  ASSERT_TRUE(text);
  EXPECT_GT(text->size(), kPropertiesBytesMax);
  EXPECT_THAT(error_of(load_config(std::vector<std::string>{"/dev/zero"})), HasSubstr("larger than 1 MiB"));
}

TEST(ConfigFile, ADirectoryIsRefused) {
  EXPECT_THAT(error_of(load_config(std::vector<std::string>{"/"})),
              HasSubstr("cannot read /: Is a directory"));
}

TEST(ConfigFile, SyntaxErrorsNameTheirLine) {
  EXPECT_EQ(error_of(load_lines("x=\\u12\n")), "zoo.cfg:3: malformed \\uXXXX escape");
}

}  // namespace
}  // namespace drover::server
