/**
 * A name as it stands in an address: `Shöp & Söhne` → `shop-sohne`. Lower-case letters, digits and inner hyphens.
 * @param mostCharacters of the result
 * @returns the empty string when nothing of the name can be kept
 */
export function slugOf(name: string, mostCharacters = 50): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, mostCharacters)
    .replace(/-$/, '')
}
