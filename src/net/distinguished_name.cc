// SPDX-License-Identifier: Apache-2.0
#include "net/distinguished_name.h"

#include <openssl/asn1.h>
#include <openssl/objects.h>

#include <memory>
#include <string_view>

#include "base/utf8.h"
#include "net/openssl.h"

namespace drover::net {
namespace {

// The attribute types that have a keyword in RFC 2253; Java writes every other one as a dotted OID.
std::string_view keyword_of(int nid) {
  switch (nid) {
    case NID_commonName: return "CN";
    case NID_countryName: return "C";
    case NID_localityName: return "L";
    case NID_stateOrProvinceName: return "ST";
    case NID_organizationName: return "O";
    case NID_organizationalUnitName: return "OU";
    case NID_streetAddress: return "STREET";
    case NID_domainComponent: return "DC";
    case NID_userId: return "UID";
    default: return {};
  }
}

std::string dotted(const ASN1_OBJECT* object) {
  const int length = OBJ_obj2txt(nullptr, 0, object, 1);
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  OBJ_obj2txt(text.data(), length + 1, object, 1);
  text.pop_back();
  return text;
}

// The string types that Java prints as text; a value of any other type is shown as hexadecimal DER.
bool is_text(int asn1_type) {
  switch (asn1_type) {
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_T61STRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_BMPSTRING:
    case V_ASN1_UTF8STRING: return true;
    default: return false;
  }
}

void append_hex_der(std::string& out, const ASN1_STRING* value) {
  const std::unique_ptr<ASN1_TYPE, OpensslDeleter<ASN1_TYPE_free>> typed(ASN1_TYPE_new());
  if (!typed || ASN1_TYPE_set1(typed.get(), ASN1_STRING_type(value), value) != 1) return;
  unsigned char* der = nullptr;
  const int length = i2d_ASN1_TYPE(typed.get(), &der);
  constexpr char kDigits[] = "0123456789abcdef";
  out += '#';
  for (int i = 0; i < length; ++i) {
    out += kDigits[der[i] >> 4];
    out += kDigits[der[i] & 15];
  }
  OPENSSL_free(der);
}

void append_utf8(std::string& out, std::string_view bytes, const DecodedChar& decoded) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  if (decoded.code_point == kReplacement) {
    out += "\xEF\xBF\xBD";
  } else {
    out.append(bytes.substr(0, decoded.length));
  }
}

// Java 17 decodes every string type as UTF-8, even BMPString.
std::string escape_specials(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const DecodedChar decoded = decode_utf8(bytes);
    if (decoded.code_point == 0) {
      out += "\\00";
    } else {
      const bool special = decoded.code_point < 0x80 &&
                           std::string_view(",=+<>#;\"\\").contains(static_cast<char>(decoded.code_point));
      if (special) out += '\\';
      append_utf8(out, bytes, decoded);
    }
    bytes.remove_prefix(decoded.length);
  }
  return out;
}

// Escapes blanks at both ends, which a parser would otherwise drop. For Java a carriage return is a blank,
// too.
void append_text(std::string& out, std::string_view bytes) {
  const std::string text = escape_specials(bytes);
  const std::size_t first = text.find_first_not_of(" \r");
  const std::size_t last = text.find_last_not_of(" \r");
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (first == std::string::npos || i < first || i > last) out += '\\';
    out += text[i];
  }
}

void append_entry(std::string& out, const X509_NAME_ENTRY* entry) {
  const ASN1_OBJECT* const type = X509_NAME_ENTRY_get_object(entry);
  const ASN1_STRING* const value = X509_NAME_ENTRY_get_data(entry);
  const std::string_view keyword = keyword_of(OBJ_obj2nid(type));
  out += keyword.empty() ? dotted(type) : keyword;
  out += '=';
  if (keyword.empty() || !is_text(ASN1_STRING_type(value))) return append_hex_der(out, value);
  append_text(out, {reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                    static_cast<std::size_t>(ASN1_STRING_length(value))});
}

}  // namespace

// Relative names come in reverse order, but the parts of a multi-valued one ("CN=a+OU=b") keep their order.
std::string rfc2253_name(const X509_NAME* name) {
  std::string out;
  int end = X509_NAME_entry_count(name);
  while (end > 0) {
    const int set = X509_NAME_ENTRY_set(X509_NAME_get_entry(name, end - 1));
    int begin = end - 1;
    while (begin > 0 && X509_NAME_ENTRY_set(X509_NAME_get_entry(name, begin - 1)) == set) --begin;
    if (!out.empty()) out += ',';
    for (int i = begin; i < end; ++i) {
      if (i > begin) out += '+';
      append_entry(out, X509_NAME_get_entry(name, i));
    }
    end = begin;
  }
  return out;
}

}  // namespace drover::net
