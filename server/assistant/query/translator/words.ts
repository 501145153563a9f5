/** A question as words. Pure. */

/** A word of a question: its text, its place in UTF-16 units, and the form in which it is compared. */
export type Word = {
  readonly text: string
  readonly start: number
  /** Excluded. */
  readonly end: number
  readonly isQuoted: boolean
  /** Lower case and singular; a misspelt keyword is the keyword. */
  readonly stem: string
  readonly isPlural: boolean
}

const PART = /"([^"]*)"|“([^”]*)”|[^\s,;?!()"“”]+/gu
const DATE = /^\d{4}-\d{2}-\d{2}/
/** The short id of an issue: `SHOP-42`. */
export const ISSUE_ID = /^[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*-\d+$/i
/** Words with a number behind their hyphen that are no issues: `top-10`. */
const COUNTED = /^(top|last|past|first)-\d+$/i

/** Splits a question at spaces, commas, hyphens between letters and colons. */
export function splitQuestion(question: string): Omit<Word, 'stem' | 'isPlural'>[] {
  const words: Omit<Word, 'stem' | 'isPlural'>[] = []
  for (const match of question.matchAll(PART)) {
    const quoted = match[1] ?? match[2]
    if (quoted !== undefined) {
      if (quoted.trim() !== '')
        words.push({ text: quoted.trim(), start: match.index, end: match.index + match[0].length, isQuoted: true })
      continue
    }
    let at = match.index
    for (const text of splitPart(match[0])) {
      const bare = text.replace(/^['‘(]+/, '').replace(/[.:'’]+$/, '')
      if (/[\p{L}\p{N}]/u.test(bare)) {
        const start = at + text.indexOf(bare)
        words.push({ text: bare, start, end: start + bare.length, isQuoted: false })
      }
      at += text.length
    }
  }
  return words
}

/** The parts of a text without spaces; together they are that text. */
function splitPart(text: string): string[] {
  const isName = /[@/]/.test(text) || DATE.test(text) || (ISSUE_ID.test(text) && !COUNTED.test(text))
  if (isName || /^\d{1,2}:\d{2}/.test(text)) return [text]
  const measured = /^(\d+(?:\.\d+)?)(ms|s|%)$/i.exec(text)
  if (measured?.[1] !== undefined && measured[2] !== undefined) return [measured[1], measured[2]]
  return text.split(/(?<=[\p{L}\p{N}][-–:])(?=[\p{L}\p{N}])/u).flatMap((part) => {
    const cut = /^(.*[\p{L}\p{N}])([-–:])$/u.exec(part)
    return cut?.[1] !== undefined && cut[2] !== undefined ? [cut[1], cut[2]] : [part]
  })
}

/** Abbreviations of words of time. */
const SHORT: Readonly<Record<string, string>> = {
  hr: 'hour',
  h: 'hour',
  min: 'minute',
  sec: 'second',
  s: 'second',
  wk: 'week',
  d: 'day',
  jan: 'january',
  feb: 'february',
  mar: 'march',
  apr: 'april',
  jun: 'june',
  jul: 'july',
  aug: 'august',
  sep: 'september',
  sept: 'september',
  oct: 'october',
  nov: 'november',
  dec: 'december',
  mon: 'monday',
  tue: 'tuesday',
  tues: 'tuesday',
  wed: 'wednesday',
  thu: 'thursday',
  thur: 'thursday',
  fri: 'friday',
  sat: 'saturday',
  sun: 'sunday',
  vs: 'versus',
  env: 'environment',
  avg: 'average',
  millisecond: 'ms',
}

/** The singular of a word in lower case, with abbreviations written out: `crashes` is `crash`, `hrs` is `hour`. */
export function stemWord(text: string): string {
  const word = text.toLowerCase().replace(/['’]s$/, '')
  const singular = singularOf(word)
  return SHORT[word] ?? SHORT[singular] ?? singular
}

function singularOf(word: string): string {
  if (word.length < 3 || !/^\p{L}+$/u.test(word)) return word
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:sh|ch|x|ss)es$/.test(word)) return word.slice(0, -2)
  return word.length > 3 && /[^suai]s$/.test(word) ? word.slice(0, -1) : word
}

const MIN_MISSPELT = 4

/**
 * The words of a question. One wrong, missing, additional or swapped letter in a keyword is corrected; words that are part of a
 * known value stay.
 */
export function readWords(question: string, keywords: ReadonlySet<string>, isKnown: (word: string) => boolean): Word[] {
  return splitQuestion(question).map((word) => {
    const lower = word.text.toLowerCase()
    const stem = stemWord(word.text)
    const isPlural = stem !== lower && singularOf(lower) !== lower
    if (word.isQuoted || keywords.has(stem)) return { ...word, stem, isPlural }
    if (keywords.has(lower)) return { ...word, stem: lower, isPlural: false }
    if (isKnown(lower) || !/^\p{L}+$/u.test(stem)) return { ...word, stem, isPlural }
    return { ...word, stem: correct(stem, keywords) ?? correct(lower, keywords) ?? stem, isPlural }
  })
}

function correct(word: string, keywords: ReadonlySet<string>): string | undefined {
  if (word.length < MIN_MISSPELT) return undefined
  let found: string | undefined
  for (const keyword of keywords) {
    if (keyword.length < MIN_MISSPELT || !differsByOne(word, keyword)) continue
    // "Assigned" is no misspelt "assignee".
    if (word.endsWith('ed') && !keyword.endsWith('ed')) continue
    // The beginning is rarely misspelt, so that it decides.
    if (keyword[0] === word[0]) return keyword
    found ??= keyword.length > MIN_MISSPELT ? keyword : undefined
  }
  return found
}

/** Whether one letter is changed, missing or additional, or two neighbours are swapped. */
export function differsByOne(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [restA, restB] = [a.slice(at), b.slice(at)]
  return (
    restA.slice(1) === restB.slice(1) ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    (restA.length > 1 && restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
  )
}
