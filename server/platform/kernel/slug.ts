/**
 * The form of a name in a URL: `Shöp & Söhne` → `shop-sohne`. Lower-case letters, digits and inner hyphens.
 * @returns the empty string when no character of the name can be kept
 */
export function toSlug(name: string, maxCharacters = 50): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxCharacters)
    .replace(/-$/, '')
}
