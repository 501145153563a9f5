/** Messages can be a page long or a megabyte: what stands in a title is their beginning. */

const LONGEST_TITLE = 240

/** The beginning of a text, cut at a whole character. */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text
  // Half a surrogate pair would be drawn as a broken character.
  const cut = /[\uD800-\uDBFF]$/u.test(text.slice(0, most)) ? most - 1 : most
  return `${text.slice(0, cut).trimEnd()}…`
}

/** The first line that says something, as long as a title may be. */
export function headlineOf(text: string): string {
  const line = text.split('\n', 20).find((part) => part.trim() !== '') ?? ''
  const whole = line.trim()
  return whole.length < text.trim().length && whole.length <= LONGEST_TITLE
    ? `${whole} …`
    : beginningOf(whole, LONGEST_TITLE)
}
