import { z } from 'zod'

/** The file that the build writes beside the pages of the guide. */
export const GuideIndex = z.object({
  /** Titles of pages by their names. */
  titles: z.record(z.string(), z.string()),
  /** In the order of reading; the first section of a page has no id. */
  sections: z.array(z.object({ page: z.string(), id: z.string(), heading: z.string(), text: z.string() })),
})
export type GuideIndex = z.infer<typeof GuideIndex>

type GuideHit = {
  readonly page: string
  readonly id: string
  readonly title: string
  readonly heading: string
  /** Text around the first word found. */
  readonly excerpt: string
}

const MAX_WORDS = 8
const MAX_HITS = 20
const EXCERPT_LENGTH = 200

/** The words of a typed text that the search looks for, lower case. */
export const searchedWords = (typed: string): string[] =>
  [...new Set(typed.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}._/-]*/gu) ?? [])].slice(0, MAX_WORDS)

/** Sections that contain every word, the best first: words of a title count most, then of a heading, then of the text. */
export function searchGuide({ titles, sections }: GuideIndex, words: readonly string[]): GuideHit[] {
  if (words.length === 0) return []
  const found = sections.flatMap(({ page, id, heading, text }) => {
    const title = titles[page] ?? page
    const fields = [title, heading, text].map((field) => field.toLowerCase())
    const points = words.map((word) => pointsOf(word, fields))
    if (points.includes(0)) return []
    return [{ page, id, title, heading, text, points: points.reduce((sum, one) => sum + one, id === '' ? 1 : 0) }]
  })
  return found
    .toSorted((a, b) => b.points - a.points)
    .slice(0, MAX_HITS)
    .map(({ page, id, title, heading, text }) => ({ page, id, title, heading, excerpt: excerpt(text, words) }))
}

const WEIGHTS = [6, 4, 1]

/** How well a word fits: whole words count twice, and three times in the text are better than one. 0: it is not there. */
function pointsOf(word: string, fields: readonly string[]): number {
  let points = 0
  for (const [at, field] of fields.entries()) {
    const weight = WEIGHTS[at] ?? 0
    let place = field.indexOf(word)
    for (let times = 0; place >= 0 && times < (at === 2 ? 3 : 1); times++) {
      points += weight * (isBoundary(field, place - 1) ? (isBoundary(field, place + word.length) ? 2 : 1.5) : 1)
      place = field.indexOf(word, place + word.length)
    }
  }
  return points
}

const isBoundary = (text: string, at: number): boolean => !/[\p{L}\p{N}]/u.test(text.charAt(at))

function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length)
  const from = first === text.length || first < EXCERPT_LENGTH / 2 ? 0 : text.lastIndexOf(' ', first - 60) + 1
  const piece = text.slice(from, from + EXCERPT_LENGTH)
  const whole = from + EXCERPT_LENGTH < text.length ? `${piece.slice(0, piece.lastIndexOf(' '))} …` : piece
  return from === 0 ? whole : `… ${whole}`
}
