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

/** What stands first and what follows it: type and value, unless a rule of the project gave the issue another title. */
export function headOf({ title, type, value }: { title: string; type: string | null; value: string | null }): {
  name: string
  rest: string | null
} {
  if (type === null) return { name: headlineOf(title), rest: null }
  // Titles of our own making begin with the type, or are its beginning.
  const line = headlineOf(type).replace(/ ?…$/u, '')
  const begun = title.replace(/…$/u, '')
  if (!title.startsWith(line) && !line.startsWith(begun)) return { name: headlineOf(title), rest: null }
  return { name: headlineOf(type), rest: headlineOf(value ?? '') }
}
