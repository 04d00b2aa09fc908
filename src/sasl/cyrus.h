// SPDX-License-Identifier: Apache-2.0
//
// Cyrus SASL made ready for this process, and the base of our conversations over it.
//
// The library is configured by the program alone: no configuration file, no plug-ins but the two mechanisms,
// no log lines of its own, and no users but ours. Everything that it frees is overwritten first.
#pragma once

#include <sasl/sasl.h>
#include <sasl/saslplug.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/sasl.h"

namespace drover::sasl {

enum class CyrusSide { kClient, kServer };

// A mechanism with the Debian package that has its plug-in.
struct CyrusMechanism {
  const char* name;
  const char* package;
};

// Initializes the library on the first call. Safe to call from any thread.
IoResult<void> require_mechanism(CyrusSide side, const CyrusMechanism& mechanism);

struct DisposeConnection {
  void operator()(sasl_conn_t* connection) const { sasl_dispose(&connection); }
};
using CyrusConnection = std::unique_ptr<sasl_conn_t, DisposeConnection>;

// Callbacks have one type in the library's tables and another one each when called.
template <class Function>
sasl_callback_t cyrus_callback(unsigned long id, Function function, void* context) {
  // Casts through void (*)(), which compilers accept for any function.
  return {id, reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(function)), context};
}
// Silences the library. Part of each connection's callbacks: the process may have initialized it before us.
sasl_callback_t silent_log();
sasl_callback_t no_options();
// Refuses names that the library would change: it trims blanks and stops at a NUL.
sasl_callback_t plain_names();
// The rule decides as whom a peer acts, so the library allows all.
sasl_callback_t allow_every_id();
constexpr sasl_callback_t kNoMoreCallbacks = {SASL_CB_LIST_END, nullptr, nullptr};

// Neither integrity nor encryption of what follows: ZooKeeper uses SASL to log in only.
void forbid_security_layer(sasl_conn_t* connection);

// One line about a step that failed. `connection` may be null.
std::string cyrus_failure(sasl_conn_t* connection, int code);

// Without control characters.
std::string one_line(std::string text);

// A name from a peer, fit for a log line: in quotes, at most 64 bytes, without control characters.
std::string quoted_name(std::string_view name);

// The common part of all conversations: the limit of tokens and the end.
class BoundedConversation : public SaslConversation {
 public:
  SaslStep step(std::string_view token) final;
  const std::string& authorization_id() const final { return authorization_id_; }

 protected:
  virtual SaslStep advance(std::string_view token) = 0;
  static SaslStep failed(std::string reason);

  std::string authorization_id_;

 private:
  bool over_ = false;
};

// Makes conversations that share their settings, which may outlive the factory.
template <class Conversation, class Settings>
class SaslFactoryOf final : public SaslFactory {
 public:
  explicit SaslFactoryOf(Settings settings)
      : settings_(std::make_shared<const Settings>(std::move(settings))) {}
  std::unique_ptr<SaslConversation> start() override { return std::make_unique<Conversation>(settings_); }

 private:
  std::shared_ptr<const Settings> settings_;
};

}  // namespace drover::sasl
