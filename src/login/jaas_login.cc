// SPDX-License-Identifier: Apache-2.0
//
// The login of a client from a JAAS file.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <string>
#include <utility>

#include "base/secret.h"
#include "drover/sasl.h"
#include "sasl/jaas.h"
#include "sasl/jaas_file.h"
#include "sasl/login.h"

namespace drover {
namespace {

std::unexpected<Error> bad(std::string text) { return fail(Errc::kBadConfig, {}, std::move(text)); }

// Into one buffer, which the caller wipes.
Result<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return bad(path + ": " + std::strerror(errno));
  std::string text(sasl::kJaasBytesMax + 1, '\0');
  std::size_t used = 0;
  ssize_t got = 0;
  while (used < text.size() && (got = ::read(file, text.data() + used, text.size() - used)) > 0) {
    used += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(file);
  if (got < 0) return bad(path + ": " + std::strerror(error));
  text.resize(used);
  return text;
}

std::string default_keytab() {
  const char* named = std::getenv("KRB5_CLIENT_KTNAME");
  return named != nullptr ? named : "/etc/krb5.keytab";
}

Result<SaslLoginPtr> kerberos(const sasl::KerberosLogin& login, SaslService service) {
  if (login.use_key_tab) {
    return sasl_kerberos(
        {.principal = login.principal, .keytab = login.key_tab.empty() ? default_keytab() : login.key_tab},
        std::move(service));
  }
  if (!login.use_ticket_cache)
    return bad("a client needs useKeyTab=true or useTicketCache=true: nobody is asked for a password");
  return sasl_kerberos({.principal = login.principal, .ticket_cache = login.ticket_cache},
                       std::move(service));
}

Result<SaslLoginPtr> made_of(sasl::Login login, SaslService service) {
  if (login.kerberos) return kerberos(*login.kerberos, std::move(service));
  if (login.username.empty()) return bad("expected username=\"NAME\" and password=\"PASSWORD\"");
  return sasl_password(std::move(login.username), login.password.reveal());
}

}  // namespace

Result<SaslLoginPtr> sasl_jaas(const JaasLogin& login, SaslService service) {
  const std::string path = sasl::jaas_path(login.file);
  auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto file = sasl::parse_jaas(*text, sasl::jvm_property);
  wipe(*text);
  const auto at = [&](int line, const std::string& message) {
    return bad(path + ":" + std::to_string(line) + ": " + message);
  };
  if (!file) return at(file.error().line, file.error().message);
  const sasl::JaasSection* section = sasl::find_section(*file, login.section);
  if (section == nullptr && !login.section_required) return SaslLoginPtr();
  if (section == nullptr) return bad(path + ": there is no section " + sasl::shown(login.section));
  auto meaning = sasl::login_of(*section);
  if (!meaning) return at(meaning.error().line, meaning.error().message);
  auto made = made_of(*std::move(meaning), std::move(service));
  if (!made) return at(section->line, made.error().detail);
  return made;
}

}  // namespace drover
