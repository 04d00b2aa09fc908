// SPDX-License-Identifier: Apache-2.0
//
// Each name was passed as DER to Java 17's X500Principal; the expected text is the result of getName().
#include "net/distinguished_name.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <memory>
#include <string>

#include "net/openssl.h"

namespace drover::net {
namespace {

struct Example {
  const char* what;
  const char* der_hex;
  const char* java;
};

constexpr Example kExamples[] = {
    // clang-format off
    {"text", "3036310b300906035504061302444531133011060355040a0c0a41636d652c20496e632e3112301006035504030c097a6b20636c69656e74",
     "CN=zk client,O=Acme\\, Inc.,C=DE"},
    {"email", "30223114301206092a864886f70d01090116056140622e63310a30080603550403130178",
     "CN=x,1.2.840.113549.1.9.1=#16056140622e63"},
    {"keywords and oids", "306c31173015060a0992268993f22c64011916076578616d706c6531133011060a0992268993f22c6401010c036a6f65310a300806035504080c0173310a300806035504070c016c310b300906035504090c027374310a3008060355040c0c0174310b3009060355040513023132",
     "2.5.4.5=#13023132,2.5.4.12=#0c0174,STREET=st,L=l,ST=s,UID=joe,DC=example"},
    {"multi-valued", "30223114300806035504030c01623008060355040b0c0161310a3008060355040a0c016f",
     "O=o,CN=b+OU=a"},
    {"specials", "302c312a302806035504030c21612c623d632b643c653e6623673b6822695c6a2f6b276c3a6d3f6e2a6f5f704071",
     "CN=a\\,b\\=c\\+d\\<e\\>f\\#g\\;h\\\"i\\\\j/k'l:m?n*o_p@q"},
    {"blanks at both ends", "30143112301006035504030c09202023612020622020",
     "CN=\\ \\ \\#a  b\\ \\ "},
    {"carriage returns", "3011310f300d06035504030c060d0a20610a0d",
     "CN=\\\x0d\x0a a\x0a\\\x0d"},
    {"only blanks", "300e310c300a06035504030c03202020",
     "CN=\\ \\ \\ "},
    {"empty value", "300b3109300706035504030c00",
     "CN="},
    {"nul", "300e310c300a06035504030c03610062",
     "CN=a\\00b"},
    {"tab", "300f310d300b06035504030c046109627f",
     "CN=a\x09""b\x7f"},
    {"utf8", "301b3119301706035504030c104dc3bc6c6c657220e697a520f09f9880",
     "CN=M\xc3\xbcller \xe6\x97\xa5 \xf0\x9f\x98\x80"},
    {"bmp", "3011310f300d06035504031e06004d00fc65e5",
     "CN=\\00M\\00\xef\xbf\xbd""e\xef\xbf\xbd"},
    {"t61", "300e310c300a060355040314034dfc6c",
     "CN=M\xef\xbf\xbdl"},
    {"ia5", "300e310c300a060355040316034dfc6c",
     "CN=M\xef\xbf\xbdl"},
    {"printable", "300e310c300a060355040313034dfc6c",
     "CN=M\xef\xbf\xbdl"},
    {"numeric", "300e310c300a06035504031203313233",
     "CN=#1203313233"},
    {"universal", "300f310d300b06035504031c0400000041",
     "CN=#1c0400000041"},
    {"bits", "300d310b3009060355040303020041",
     "CN=#03020041"},
    {"private oid", "3019310a300806032a03040c0176310b30090604883781010c0177",
     "2.999.129=#0c0177,1.2.3.4=#0c0176"},
    {"no name", "3000",
     ""},
    // clang-format on
};

using NamePtr = std::unique_ptr<X509_NAME, OpensslDeleter<X509_NAME_free>>;

NamePtr name_from_hex(const char* hex) {
  long length = 0;
  unsigned char* der = OPENSSL_hexstr2buf(hex, &length);
  const unsigned char* at = der;
  NamePtr name(d2i_X509_NAME(nullptr, &at, length));
  OPENSSL_free(der);
  return name;
}

TEST(DistinguishedName, IsWrittenAsInJava) {
  for (const Example& example : kExamples) {
    const NamePtr name = name_from_hex(example.der_hex);
    ASSERT_TRUE(name) << example.what;
    EXPECT_EQ(rfc2253_name(name.get()), example.java) << example.what;
  }
}

}  // namespace
}  // namespace drover::net
