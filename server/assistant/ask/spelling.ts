import { readWords, stemWord } from '../query/translator/words.ts'

/** Words of questions that are long enough to be recognised with one wrong letter. */
const WORDS: ReadonlySet<string> = new Set(
  [
    'adoption affected affect alerts android assigned average before compare compared crashed crashes crashing critical',
    'customer customers device devices endpoints environment environments errors events exception exceptions',
    'fastest fortnight friday frozen health healthy highest issues largest latest lowest minute minutes monday month months',
    'overview performance previous problem problems production regress regressed regression regressions release released',
    'releases resolve resolved rollout saturday screen screens session sessions slower slowest stability stable staging',
    'startup status sunday thursday transaction transactions tuesday unassigned unhandled unresolved version versions vitals',
    'wednesday weekend yesterday',
  ]
    .join(' ')
    .split(' ')
    .filter((word) => word.length >= 6),
)

/** Corrects one wrong, missing, additional or swapped letter in words of questions, in lower case. */
export function correctWords(text: string): string {
  let corrected = ''
  let end = 0
  for (const word of readWords(text, WORDS, () => false)) {
    if (word.text.length < 6 || !WORDS.has(word.stem) || word.stem[0] !== word.text[0]) continue
    if ([word.text, stemWord(word.text)].includes(word.stem)) continue
    corrected += text.slice(end, word.start) + word.stem + (word.isPlural && !word.stem.endsWith('s') ? 's' : '')
    end = word.end
  }
  return corrected + text.slice(end)
}
