// SPDX-License-Identifier: Apache-2.0
#include "net/key_store.h"

#include <gtest/gtest.h>

#include "net/tls_test_support.h"

namespace drover::net {
namespace {

using testing::Identity;
using testing::JksWriter;
using testing::kPassword;
using testing::make_identity;
using testing::pem_of;
using testing::pkcs12_of;
using testing::TempDir;

// A root, an intermediate authority, and a leaf under it.
struct Family {
  Identity root = make_identity({.common_name = "root", .is_authority = true});
  Identity middle = make_identity({.common_name = "middle", .issuer = &root, .is_authority = true});
  Identity leaf = make_identity({.common_name = "leaf", .issuer = &middle});
};

const Family& family() {
  static const Family made;
  return made;
}

bool same(const X509Ptr& a, const X509Ptr& b) { return X509_cmp(a.get(), b.get()) == 0; }

void expect_leaf_with_chain(const IoResult<KeyStore>& store) {
  ASSERT_TRUE(store) << store.error().what;
  ASSERT_EQ(store->keys.size(), 1u);
  const PrivateKeyEntry& entry = store->keys.front();
  EXPECT_EQ(EVP_PKEY_eq(entry.key.get(), family().leaf.key.get()), 1);
  EXPECT_TRUE(same(entry.certificate, family().leaf.certificate));
  ASSERT_EQ(entry.chain.size(), 2u);
  EXPECT_TRUE(same(entry.chain[0], family().middle.certificate));
  EXPECT_TRUE(same(entry.chain[1], family().root.certificate));
}

TEST(KeyStore, PemHoldsKeyAndChainInAnyOrder) {
  const auto& [root, middle, leaf] = family();
  const std::string key = pem_of(leaf.key);
  const std::string a = pem_of(leaf.certificate), b = pem_of(middle.certificate),
                    c = pem_of(root.certificate);
  expect_leaf_with_chain(parse_pem(key + a + b + c, ""));
  expect_leaf_with_chain(parse_pem("a comment\n" + c + b + key + a, ""));
}

TEST(KeyStore, PemKeysMayBeEncrypted) {
  const auto& [root, middle, leaf] = family();
  const std::string chain = pem_of(leaf.certificate) + pem_of(middle.certificate) + pem_of(root.certificate);
  expect_leaf_with_chain(parse_pem(pem_of(leaf.key, kPassword) + chain, kPassword));
  const auto refused = parse_pem(pem_of(leaf.key, kPassword) + chain, "other");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().what.starts_with("cannot decrypt the private key, is the password right?"));
}

TEST(KeyStore, PemTrustStoresAreConcatenatedCertificates) {
  const auto& [root, middle, leaf] = family();
  const auto store = parse_pem(pem_of(root.certificate) + pem_of(middle.certificate), "");
  ASSERT_TRUE(store);
  EXPECT_EQ(store->trusted.size(), 2u);
  EXPECT_TRUE(store->keys.empty());
}

TEST(KeyStore, AKeyWithoutItsCertificateIsRefused) {
  const auto& [root, middle, leaf] = family();
  const auto store = parse_pem(pem_of(leaf.key) + pem_of(root.certificate), "");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().what, "a private key has no certificate");
}

TEST(KeyStore, Pkcs12HoldsKeyAndChain) {
  const auto& [root, middle, leaf] = family();
  const auto store = parse_pkcs12(pkcs12_of(&leaf, {&root, &middle}), kPassword);
  expect_leaf_with_chain(store);
  EXPECT_TRUE(store->trusted.empty()) << "an issuer in a key's chain is not trusted by that alone";
}

TEST(KeyStore, Pkcs12WithCertificatesOnlyIsATrustStore) {
  const auto& [root, middle, leaf] = family();
  const auto store = parse_pkcs12(pkcs12_of(nullptr, {&root, &middle}), kPassword);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->trusted.size(), 2u);
}

// A store as keytool writes it: a key with its chain, and a certificate that is marked as trusted.
std::string keytool_pkcs12(const Identity& key, const Identity& issuer, const Identity& trusted) {
  STACK_OF(PKCS12_SAFEBAG)* bags = nullptr;
  STACK_OF(PKCS7)* safes = nullptr;
  PKCS12_add_cert(&bags, key.certificate.get());
  PKCS12_add_cert(&bags, issuer.certificate.get());
  PKCS12_SAFEBAG* const marked = PKCS12_add_cert(&bags, trusted.certificate.get());
  PKCS12_add1_attr_by_txt(marked, "2.16.840.1.113894.746875.1.1", V_ASN1_OCTET_STRING,
                          reinterpret_cast<const unsigned char*>("any"), 3);
  PKCS12_add_key(&bags, key.key.get(), 0, 1000, NID_aes_256_cbc, std::string(kPassword).c_str());
  PKCS12_add_safe(&safes, bags, -1, 0, nullptr);
  PKCS12* const store = PKCS12_add_safes(safes, 0);
  PKCS12_set_mac(store, std::string(kPassword).c_str(), -1, nullptr, 0, 1000, EVP_sha256());
  const BioPtr bio(BIO_new(BIO_s_mem()));
  i2d_PKCS12_bio(bio.get(), store);
  PKCS12_free(store);
  sk_PKCS7_pop_free(safes, PKCS7_free);
  sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
  return testing::contents_of(bio.get());
}

TEST(KeyStore, Pkcs12TrustsTheCertificatesMarkedByKeytool) {
  const auto& [root, middle, leaf] = family();
  const Identity friendly = make_identity({.common_name = "friend"});
  const auto store = parse_pkcs12(keytool_pkcs12(leaf, middle, friendly), kPassword);
  ASSERT_TRUE(store) << store.error().what;
  ASSERT_EQ(store->trusted.size(), 1u);
  EXPECT_TRUE(same(store->trusted.front(), friendly.certificate));
  ASSERT_EQ(store->keys.size(), 1u);
  EXPECT_EQ(store->keys.front().chain.size(), 1u);
}

TEST(KeyStore, Pkcs12WithAWrongPasswordIsRefused) {
  const auto store = parse_pkcs12(pkcs12_of(&family().leaf, {}), "other");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().what, "wrong password, or the store was changed without it");
}

TEST(KeyStore, Pkcs12MayHaveAnEmptyPassword) {
  EXPECT_TRUE(parse_pkcs12(pkcs12_of(&family().leaf, {}, ""), ""));
}

TEST(KeyStore, JksHoldsKeyAndChainInBothVersions) {
  const auto& [root, middle, leaf] = family();
  for (const int version : {1, 2}) {
    expect_leaf_with_chain(parse_jks(JksWriter(version).key(leaf, {&middle, &root}).bytes(), kPassword));
  }
}

TEST(KeyStore, JksDistinguishesTrustedCertificatesFromChains) {
  const auto& [root, middle, leaf] = family();
  const auto store = parse_jks(JksWriter().trust(root.certificate).key(leaf, {&middle}).bytes(), kPassword);
  ASSERT_TRUE(store);
  ASSERT_EQ(store->trusted.size(), 1u);
  EXPECT_TRUE(same(store->trusted.front(), root.certificate));
}

TEST(KeyStore, JksWithAWrongPasswordOrAFlippedBitIsRefused) {
  std::string bytes = JksWriter().trust(family().root.certificate).bytes();
  EXPECT_FALSE(parse_jks(bytes, "other"));
  bytes[bytes.size() - 30] = static_cast<char>(bytes[bytes.size() - 30] ^ 1);
  const auto store = parse_jks(bytes, kPassword);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().what, "wrong password, or the store was changed without it");
}

TEST(KeyStore, JksPasswordsAreUtf16) {
  EXPECT_EQ(jks_password("a\xC3\xA4"), std::string("\0a\0\xE4", 4));
  EXPECT_EQ(jks_password("\xF0\x9F\x98\x80"), std::string("\xD8\x3D\xDE\x00", 4));
}

// Adds a valid digest to the body, so that the parser checks the structure and does not stop at the digest.
std::string signed_store(std::string body) { return body + jks_digest(body, jks_password(kPassword)); }

TEST(KeyStore, TruncatedJksIsRefused) {
  const std::string whole = JksWriter().key(family().leaf, {&family().middle}).bytes();
  const std::string body = whole.substr(0, whole.size() - kJksDigestBytes);
  for (std::size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(parse_jks(whole.substr(0, n), kPassword)) << n;
    EXPECT_FALSE(parse_jks(signed_store(body.substr(0, n)), kPassword)) << n;
  }
  EXPECT_TRUE(parse_jks(signed_store(body), kPassword));
  EXPECT_FALSE(parse_jks(signed_store(body + "x"), kPassword)) << "nothing may follow the entries";
}

TEST(KeyStore, ImpossibleJksCountsAndLengthsAreRefused) {
  using namespace std::string_literals;
  const std::string header = "\xFE\xED\xFE\xED\0\0\0\2"s;
  const std::string entry = "\0\0\0\1\0\0\0\0\0\0\0\0\0\0"s;  // a key, no alias, no date
  for (const std::string& body : {
           header + "\x7F\xFF\xFF\xFF"s,                                 // two billion entries
           header + "\0\0\0\1"s + entry + "\x7F\xFF\xFF\xFF"s,           // a key of two gigabytes
           header + "\0\0\0\1"s + entry + "\xFF\xFF\xFF\xFF"s,           // a negative length
           header + "\0\0\0\1"s + entry + "\0\0\0\1k\x7F\xFF\xFF\xFF"s,  // a chain of two billion
       }) {
    const auto store = parse_jks(signed_store(body), kPassword);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().what, "damaged JKS store");
  }
}

// The error that an administrator sees: the file, the reason, one line, and no password.
std::string error_of(const StoreOptions& options) {
  const auto store = load_key_store(options);
  if (store) return "no error";
  EXPECT_FALSE(store.error().what.contains('\n'));
  EXPECT_FALSE(store.error().what.contains(kPassword));
  return store.error().what;
}

TEST(LoadKeyStore, EachMistakeHasItsOwnMessage) {
  const TempDir dir;
  const std::string password(kPassword);
  const std::string good = dir.write("good.p12", pkcs12_of(&family().leaf, {}));
  const std::string none = dir.path("none.jks");
  EXPECT_EQ(error_of({.location = none}), "cannot open " + none + ": No such file or directory");
  const std::string odd = dir.write("odd.store", "x");
  EXPECT_EQ(error_of({.location = odd}), odd + ": the extension does not tell the type of the store");
  EXPECT_EQ(error_of({.location = odd, .type = "XYZ"}), odd + ": unknown store type XYZ");
  EXPECT_EQ(error_of({.location = odd, .type = "BCFKS"}),
            odd + ": BCFKS is not supported; convert the store to PKCS12");
  EXPECT_EQ(error_of({.location = odd, .type = "JKS"}), odd + ": neither a JKS nor a PKCS12 store");
  const std::string jceks = dir.write("j.jks", "\xCE\xCE\xCE\xCE...");
  EXPECT_EQ(error_of({.location = jceks}), jceks + ": JCEKS is not supported; convert the store to PKCS12");
  const std::string torn = dir.write("torn.p12", "\x30\x82\x01");
  EXPECT_TRUE(error_of({.location = torn}).starts_with(torn + ": not a PKCS12 store"));
  const std::string pem =
      dir.write("bad.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  EXPECT_TRUE(error_of({.location = pem}).starts_with(pem + ": bad certificate"));
  EXPECT_EQ(error_of({.location = good, .password = "other"}),
            good + ": wrong password, or the store was changed without it");
  const std::string folder = dir.path("");
  EXPECT_EQ(error_of({.location = folder, .type = "PEM"}), folder + " is not a regular file");
  const std::string lost = dir.path("lost");
  EXPECT_EQ(error_of({.location = good, .password = password, .password_path = lost}),
            "cannot open " + lost + ": No such file or directory");
}

TEST(LoadKeyStore, TheTypePropertyWinsOverTheExtensionAndIsNotCaseSensitive) {
  const TempDir dir;
  const std::string store = dir.write("store.jks", pem_of(family().root.certificate));
  EXPECT_TRUE(load_key_store({.location = store, .type = "pem"}));
}

TEST(LoadKeyStore, AJksFileMayBePkcs12AndViceVersa) {
  const TempDir dir;
  const std::string password(kPassword);
  const std::string jks = dir.write("a.jks", pkcs12_of(&family().leaf, {}));
  const std::string p12 = dir.write("a.p12", JksWriter().key(family().leaf).bytes());
  EXPECT_TRUE(load_key_store({.location = jks, .password = password}));
  EXPECT_TRUE(load_key_store({.location = p12, .password = password}));
}

TEST(LoadKeyStore, APasswordFileMayEndWithANewline) {
  const TempDir dir;
  const std::string store = dir.write("a.p12", pkcs12_of(&family().leaf, {}));
  for (const char* ending : {"", "\n", "\r\n"}) {
    const std::string file = dir.write("password", std::string(kPassword) + ending);
    EXPECT_TRUE(load_key_store({.location = store, .password = "ignored", .password_path = file}));
  }
}

}  // namespace
}  // namespace drover::net
