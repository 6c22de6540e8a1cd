/* The files of the inspector's page, up to one without a path. */
#ifndef TUREEN_INSPECTOR_ASSETS_H
#define TUREEN_INSPECTOR_ASSETS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *_Nullable path;
    const char *_Nullable bytes;
    size_t length;
} tureen_inspector_asset;

extern const tureen_inspector_asset *_Nonnull const tureen_inspector_assets;

#ifdef __cplusplus
}
#endif
#endif
