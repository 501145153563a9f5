import { groupingTexts } from './texts.ts'

/** Rules as typed text, and as the API takes them. Pure. */

const texts = groupingTexts.problems

export type Matcher = { key: string; glob: string; not: boolean }

/** One condition: an optional minus, a key, and a value in quotes or up to the next space. */
const CONDITION = /\s*(-?)([A-Za-z][^\s:"]{0,80}):(?:"((?:[^"\\]|\\.){0,400})"|([^\s"]{1,400}))(?=\s|$)/y

/** `type:PaymentError -module:"com.acme *"` → matchers, or an error message. */
export function parseMatch(text: string): { match: Matcher[] } | { problem: string } {
  const match: Matcher[] = []
  const line = text.trimEnd()
  let at = 0
  while (at < line.length) {
    CONDITION.lastIndex = at
    const found = CONDITION.exec(line)
    if (found === null) {
      const rest = line.slice(at).trim()
      const word = rest.split(/\s/, 1)[0] ?? rest
      return { problem: word.includes('"') ? texts.quote : texts.shape(word) }
    }
    const [whole, minus, key = '', quoted, plain = ''] = found
    match.push({ key, glob: quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1'), not: minus === '-' })
    at += whole.length
  }
  return match.length === 0 ? { problem: texts.empty } : { match }
}

export const printMatch = (match: readonly Matcher[]): string =>
  match
    .map(({ key, glob, not }) => {
      const value = /[\s"\\]/.test(glob) || glob === '' ? `"${glob.replaceAll(/["\\]/g, '\\$&')}"` : glob
      return `${not ? '-' : ''}${key}:${value}`
    })
    .join(' ')

/** Comma-separated elements; one with a comma is quoted. */
export function parseElements(text: string): string[] {
  const elements = text.match(/\s*(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? []
  return elements
    .map((element) => element.trim())
    .filter((element) => element !== '')
    .map((element) =>
      element.length > 1 && element.startsWith('"') && element.endsWith('"')
        ? element.slice(1, -1).replaceAll(/\\(.)/g, '$1')
        : element,
    )
}

export const printElements = (elements: readonly string[]): string =>
  elements.map((element) => (/[,"]/.test(element) ? `"${element.replaceAll(/["\\]/g, '\\$&')}"` : element)).join(', ')
