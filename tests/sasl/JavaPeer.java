// SPDX-License-Identifier: Apache-2.0
//
// The other side of peer.cc, with the same lines, by the JDK's SASL and ZooKeeper's callback handler.
//
// digest-server USER PASSWORD PROTOCOL HOST     digest-client USER PASSWORD PROTOCOL HOST
// gssapi-server KEYTAB PRINCIPAL PROTOCOL HOST  gssapi-client PRINCIPAL KEYTAB PROTOCOL HOST
//
// A client may be told as whom it asks to act: one more word.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslServer;
import org.apache.zookeeper.server.auth.SaslServerCallbackHandler;

public final class JavaPeer {
    static final String KRB5 = "com.sun.security.auth.module.Krb5LoginModule";

    interface Side {
        byte[] step(byte[] token) throws Exception;
        boolean done();
        String id();
    }

    static Side server(SaslServer sasl) {
        return new Side() {
            public byte[] step(byte[] token) throws Exception { return sasl.evaluateResponse(token); }
            public boolean done() { return sasl.isComplete(); }
            public String id() { return sasl.getAuthorizationID(); }
        };
    }

    static Side client(SaslClient sasl) {
        boolean[] first = {true};
        return new Side() {
            // ZooKeeper's client: an empty first token unless the mechanism has one.
            public byte[] step(byte[] token) throws Exception {
                if (first[0]) {
                    first[0] = false;
                    return sasl.hasInitialResponse() ? sasl.evaluateChallenge(new byte[0]) : new byte[0];
                }
                return sasl.evaluateChallenge(token);
            }
            public boolean done() { return sasl.isComplete(); }
            public String id() { return ""; }
        };
    }

    // A JAAS file with one section.
    static Configuration section(String module, Map<String, String> options) {
        return new Configuration() {
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {new AppConfigurationEntry(
                    module, AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, options)};
            }
        };
    }

    static Subject login(String principal, String keytab, boolean initiator) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("useKeyTab", "true");
        options.put("keyTab", keytab);
        options.put("principal", principal);
        options.put("storeKey", "true");
        options.put("isInitiator", Boolean.toString(initiator));
        LoginContext context = new LoginContext("peer", new Subject(), null, section(KRB5, options));
        context.login();
        return context.getSubject();
    }

    static CallbackHandler passwords(String user, String password) {
        return callbacks -> {
            for (Callback callback : callbacks) {
                if (callback instanceof NameCallback name) name.setName(user);
                if (callback instanceof PasswordCallback secret) secret.setPassword(password.toCharArray());
                if (callback instanceof RealmCallback realm) realm.setText(realm.getDefaultText());
            }
        };
    }

    static Side make(String[] words) throws Exception {
        String protocol = words[3];
        String host = words[4];
        String wanted = words.length > 5 ? words[5] : words[1];  // ZooKeeper's client asks for itself
        switch (words[0]) {
            case "digest-server":
                return server(Sasl.createSaslServer("DIGEST-MD5", protocol, host, null,
                    new SaslServerCallbackHandler(section(
                        "org.apache.zookeeper.server.auth.DigestLoginModule", Map.of("user_" + words[1], words[2])))));
            case "digest-client":
                return client(Sasl.createSaslClient(new String[] {"DIGEST-MD5"}, wanted, protocol, host, null,
                    passwords(words[1], words[2])));
            case "gssapi-server":
                return server(Sasl.createSaslServer("GSSAPI", protocol, host, null,
                    new SaslServerCallbackHandler(section(KRB5, Map.of()))));
            default:
                return client(Sasl.createSaslClient(new String[] {"GSSAPI"}, wanted, protocol, host, null, null));
        }
    }

    static void talk(Side side) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                byte[] token = side.step(HexFormat.of().parseHex(line));
                String text = token == null ? "-" : HexFormat.of().formatHex(token);
                System.out.println(side.done() ? "done " + text + " " + side.id()
                                               : "continue " + (token == null ? "" : text));
            } catch (Exception e) {
                System.out.println("failed " + String.valueOf(e).replace('\n', ' '));
            }
        }
    }

    public static void main(String[] words) throws Exception {
        if (words[0].startsWith("digest")) {
            talk(make(words));
            return;
        }
        boolean initiator = words[0].equals("gssapi-client");
        Subject subject = login(words[initiator ? 1 : 2], words[initiator ? 2 : 1], initiator);
        Subject.doAs(subject, (PrivilegedExceptionAction<Void>) () -> {
            talk(make(words));
            return null;
        });
    }
}
