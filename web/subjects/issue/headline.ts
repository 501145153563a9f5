/** Titles from messages, which can be very long. Pure. */

const MAX_TITLE = 240

/** The beginning of a text, cut at a whole character. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  // Half a surrogate pair would be drawn as a broken character.
  const cut = /[\uD800-\uDBFF]$/u.test(text.slice(0, max)) ? max - 1 : max
  return `${text.slice(0, cut).trimEnd()}…`
}

/** The first line that is not blank, cut to the length of a title. */
export function textHeadline(text: string): string {
  const line = text.split('\n', 20).find((part) => part.trim() !== '') ?? ''
  const whole = line.trim()
  return whole.length < text.trim().length && whole.length <= MAX_TITLE ? `${whole} …` : cutText(whole, MAX_TITLE)
}

/** The two parts of a title: type and value, unless a project rule set the title. */
export function splitTitle({ title, type, value }: { title: string; type: string | null; value: string | null }): {
  name: string
  rest: string | null
} {
  if (type === null) return { name: textHeadline(title), rest: null }
  // A title that no rule set begins with the type, or is the beginning of it.
  const line = textHeadline(type).replace(/ ?…$/u, '')
  const start = title.replace(/…$/u, '')
  if (!title.startsWith(line) && !line.startsWith(start)) return { name: textHeadline(title), rest: null }
  return { name: textHeadline(type), rest: textHeadline(value ?? '') }
}
