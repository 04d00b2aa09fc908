// SPDX-License-Identifier: Apache-2.0
#include "sasl/gss.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace drover::sasl {
namespace {

class GssBuffer {
 public:
  GssBuffer() = default;
  GssBuffer(const GssBuffer&) = delete;
  GssBuffer& operator=(const GssBuffer&) = delete;
  ~GssBuffer() {
    OM_uint32 minor = 0;
    gss_release_buffer(&minor, &buffer_);
  }
  gss_buffer_t get() { return &buffer_; }
  std::string text() const { return {static_cast<const char*>(buffer_.value), buffer_.length}; }

 private:
  gss_buffer_desc buffer_ = GSS_C_EMPTY_BUFFER;
};

struct ReleaseName {
  void operator()(gss_name_t name) const {
    OM_uint32 minor = 0;
    gss_release_name(&minor, &name);
  }
};
using GssName = std::unique_ptr<std::remove_pointer_t<gss_name_t>, ReleaseName>;

std::string status_text(OM_uint32 status, int type) {
  std::string text;
  OM_uint32 more = 0;
  do {
    GssBuffer part;
    OM_uint32 minor = 0;
    if (GSS_ERROR(gss_display_status(&minor, status, type, GSS_C_NO_OID, &more, part.get()))) break;
    text += (text.empty() ? "" : ". ") + part.text();
  } while (more != 0);
  return text;
}

std::unexpected<IoError> gss_error(const std::string& attempt, OM_uint32 major, OM_uint32 minor) {
  // The minor text says what happened; without one the major text does.
  std::string why = minor != 0 ? status_text(minor, GSS_C_MECH_CODE) : status_text(major, GSS_C_GSS_CODE);
  std::ranges::replace_if(why, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return std::unexpected(data_error(attempt + ": " + why));
}

IoResult<GssName> import_principal(const std::string& principal, gss_OID type) {
  gss_buffer_desc text = {principal.size(), const_cast<char*>(principal.data())};
  gss_name_t name = GSS_C_NO_NAME;
  OM_uint32 minor = 0;
  const OM_uint32 major = gss_import_name(&minor, &text, type, &name);
  if (GSS_ERROR(major)) return gss_error("Kerberos principal " + principal, major, minor);
  return GssName(name);
}

std::string as_file(const std::string& path) { return path.starts_with("FILE:") ? path : "FILE:" + path; }

using CredentialStore = std::vector<gss_key_value_element_desc>;

IoResult<GssCredential> acquire(const std::string& principal, gss_cred_usage_t usage,
                                CredentialStore& places) {
  GssName name;
  if (!principal.empty() && principal != "*") {
    TRY_ASSIGN(name, import_principal(principal, GSS_KRB5_NT_PRINCIPAL_NAME));
  }
  gss_OID_set_desc mechanisms = {1, const_cast<gss_OID>(gss_mech_krb5)};
  gss_key_value_set_desc store = {static_cast<OM_uint32>(places.size()), places.data()};
  gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
  OM_uint32 minor = 0;
  const OM_uint32 major =
      gss_acquire_cred_from(&minor, name.get(), GSS_C_INDEFINITE, &mechanisms, usage,
                            places.empty() ? nullptr : &store, &credential, nullptr, nullptr);
  if (GSS_ERROR(major)) {
    return gss_error("Kerberos credentials of " + (name ? principal : std::string("any principal")), major,
                     minor);
  }
  return GssCredential(credential);
}

}  // namespace

IoResult<GssCredential> acquire_acceptor(const KerberosAcceptor& acceptor) {
  const std::string keytab = as_file(acceptor.keytab);
  CredentialStore places = {{"keytab", keytab.c_str()}};
  return acquire(acceptor.principal, GSS_C_ACCEPT, places);
}

IoResult<GssCredential> acquire_initiator(const KerberosInitiator& initiator) {
  CredentialStore places;
  std::string cache;
  std::string keytab;
  if (!initiator.keytab.empty()) {
    keytab = as_file(initiator.keytab);
    // One cache per identity, so that connections to several servers share a ticket.
    cache = "MEMORY:drover " + initiator.principal + " " + keytab;
    places.push_back({"client_keytab", keytab.c_str()});
  } else if (!initiator.ticket_cache.empty()) {
    cache = initiator.ticket_cache.contains(':') ? initiator.ticket_cache : as_file(initiator.ticket_cache);
  }
  if (!cache.empty()) places.push_back({"ccache", cache.c_str()});
  return acquire(initiator.principal, GSS_C_INITIATE, places);
}

IoResult<std::string> with_realm(const std::string& principal) {
  if (principal.contains('@')) return principal;
  TRY_ASSIGN(const GssName name, import_principal(principal, GSS_C_NT_USER_NAME));
  gss_name_t canonical = GSS_C_NO_NAME;
  OM_uint32 minor = 0;
  OM_uint32 major = gss_canonicalize_name(&minor, name.get(), const_cast<gss_OID>(gss_mech_krb5), &canonical);
  if (GSS_ERROR(major)) return gss_error("Kerberos principal " + principal, major, minor);
  const GssName owned(canonical);
  GssBuffer text;
  major = gss_display_name(&minor, canonical, text.get(), nullptr);
  if (GSS_ERROR(major)) return gss_error("Kerberos principal " + principal, major, minor);
  return text.text();
}

std::string default_kerberos_realm() {
  const auto principal = with_realm("x");
  if (!principal || !principal->contains('@')) return {};
  return principal->substr(principal->find('@') + 1);
}

}  // namespace drover::sasl
