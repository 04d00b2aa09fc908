# SPDX-License-Identifier: Apache-2.0
#
# Invalid TLS settings that a server must refuse to start with.

from tls_support import PASSWORD


def bad_settings(pki):
    """(what is wrong, the settings that say so, what the message must name). Beside them the usual settings
    of PEM stores hold."""

    def key_file(name, content):
        path = pki.files / name
        path.write_bytes(content)
        return {"ssl.keyStore.location": path}

    pem, p12, jks = [pki.stores(kind) for kind in ("PEM", "PKCS12", "JKS")]
    half_a_jks = jks["ssl.keyStore.location"].read_bytes()[:400]
    empty = key_file("none.pem", b"\n")["ssl.keyStore.location"]
    wrong = {"ssl.keyStore.password": PASSWORD + "x"}
    tls13_cipher = {"ssl.ciphersuites": "TLS_AES_128_GCM_SHA256"}
    return [
        ("a missing file", {"ssl.keyStore.location": "/nonexistent.pem"}, "/nonexistent.pem"),
        ("a directory", {"ssl.keyStore.location": pki.files, "ssl.keyStore.type": "PEM"}, str(pki.files)),
        ("an unknown extension", key_file("keys.txt", b""), "keys.txt"),
        ("an empty file", key_file("empty.pem", b""), "empty.pem"),
        ("garbage", key_file("bad.p12", b"\x30\x82" + bytes(range(256))), "bad.p12"),
        ("half a JKS", key_file("half.jks", half_a_jks), "half.jks"),
        ("a wrong PEM password", wrong, "keys.pem"),
        ("a wrong PKCS12 password", {**p12, **wrong}, "keys.p12"),
        ("a wrong JKS password", {**jks, **wrong}, "keys.jks"),
        ("no password file", {"ssl.keyStore.passwordPath": "/nonexistent-password"}, "/nonexistent-password"),
        ("no key in it", {"ssl.keyStore.location": pem["ssl.trustStore.location"]}, "trusted.pem"),
        ("nothing to trust", {"ssl.trustStore.location": empty}, "none.pem"),
        ("no trust store", {"ssl.trustStore.location": ""}, "ssl.trustStore.location"),
        ("no key store", {"ssl.keyStore.location": ""}, "ssl.keyStore.location"),
        ("an unknown protocol", {"ssl.enabledProtocols": "TLSv9"}, "TLSv9"),
        ("an unsafe protocol", {"ssl.enabledProtocols": "TLSv1.1"}, "TLSv1.2"),
        ("an unknown cipher", {"ssl.ciphersuites": "TLS_WITH_NOTHING"}, "TLS_WITH_NOTHING"),
        ("a cipher of another protocol", {**tls13_cipher, "ssl.protocol": "TLSv1.2"}, "cipher"),
        ("OCSP", {"ssl.ocsp": "true"}, "ssl.ocsp"),
        ("revocation without a list", {"ssl.crl": "true"}, "ssl.crl"),
        ("a bad word", {"ssl.clientAuth": "maybe"}, "ssl.clientAuth"),
    ]
