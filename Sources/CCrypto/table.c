#include "CCrypto.h"
#include "CSystem.h"

#include <stddef.h>

static struct {
    void *(*new_context)(void);
    void (*free_context)(void *);
    const void *(*aes_128_cbc)(void);
    int (*init)(void *, const void *, void *, const unsigned char *, const unsigned char *);
    int (*set_padding)(void *, int);
    int (*update)(void *, unsigned char *, int *, const unsigned char *, int);
} library;

const char *ccrypto_load(void) {
    const struct csystem_function functions[] = {
        {"EVP_CIPHER_CTX_new", (void **)&library.new_context},
        {"EVP_CIPHER_CTX_free", (void **)&library.free_context},
        {"EVP_aes_128_cbc", (void **)&library.aes_128_cbc},
        {"EVP_DecryptInit_ex", (void **)&library.init},
        {"EVP_CIPHER_CTX_set_padding", (void **)&library.set_padding},
        {"EVP_DecryptUpdate", (void **)&library.update},
    };
    return csystem_open_library("libcrypto.so.3", functions, sizeof functions / sizeof *functions);
}

int ccrypto_decrypt(
    const unsigned char *key, const unsigned char *vector, const unsigned char *cipher, int byte_count,
    unsigned char *plain) {
    void *context = library.new_context();
    if (context == NULL) return 0;
    int written = 0;
    int is_done = library.init(context, library.aes_128_cbc(), NULL, key, vector) == 1 &&
        library.set_padding(context, 0) == 1 &&
        library.update(context, plain, &written, cipher, byte_count) == 1 && written == byte_count;
    library.free_context(context);
    return is_done;
}
