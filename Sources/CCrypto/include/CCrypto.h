#pragma once

// The functions of libcrypto (OpenSSL 3) that are used, found with `dlopen`: only encrypted segments need it.
// libcurl has mapped it already, for TLS. The declarations in `table.c` state its interface (openssl/evp.h).

/// Opens libcrypto (see `csystem_open_library`).
const char *ccrypto_load(void);

/// Decrypts `byte_count` bytes, a multiple of 16, from `cipher` to `plain`: AES-128 in CBC mode (NIST SP
/// 800-38A §6.2), without a look at the padding. `key` and `vector` have 16 bytes each; `vector` is the block
/// before the first one. Returns 1, or 0 if libcrypto refuses.
int ccrypto_decrypt(
    const unsigned char *key, const unsigned char *vector, const unsigned char *cipher, int byte_count,
    unsigned char *plain);
