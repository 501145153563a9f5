import { CONTROL_CHARACTER } from '#shared/release-name.ts'

/**
 * Addresses of generated code, as files name them and as frames have them. `~` stands for any scheme and host
 * (design: rules of release and file name).
 */

const MAX_URL = 1_000

/** `https://cdn.example.com/app/main.js?v=3#x` as `~/app/main.js`; null when nothing is left. */
export function codeUrl(text: string): string | null {
  const path = text
    .trim()
    .replace(/[?#].*$/su, '')
    .replaceAll('\\', '/')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/iu, '')
    .replace(/^[a-z]:\//iu, '/')
    .replace(/^~/u, '')
    .replace(/^(?:\.?\/)+/u, '')
  return path === '' || path.length > MAX_URL || CONTROL_CHARACTER.test(path) ? null : `~/${path}`
}

/** The address of the code that a map of this name describes: `app.js.map` is the map of `app.js`. */
export const describedUrl = (mapName: string): string | null => codeUrl(mapName.replace(/\.map(?=$|[?#])/u, ''))

/**
 * Addresses to look for, best first: the whole path, then the name alone. Browsers encode `[slug].js` as `%5Bslug%5D.js`, and
 * a build names the file.
 */
export function urlsToTry(absPath: string): string[] {
  const urls = [codeUrl(absPath), codeUrl(decoded(absPath))].filter((url) => url !== null)
  return [...new Set([...urls, ...urls.map((url) => `~/${url.slice(url.lastIndexOf('/') + 1)}`)])]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
