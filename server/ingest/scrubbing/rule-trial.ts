import { compileLinearPattern, patternProblem, slowPattern } from '../../platform/kernel/linear-pattern.ts'
import { threadCpuMs } from '../../platform/kernel/thread-task.ts'

/** The cost of an expression, measured with texts that make expressions slow. Runs in a thread of its own. */

const TEXT_CHARACTERS = 1_000
/** Usual expressions take up to 0.5 µs, those that keep hundreds of states alive 20 and more. */
const MAX_US_PER_CHARACTER = 10
/** A slow result is measured again: the first round is not compiled yet, and others use the processor. */
const MEASURED_MS = 60
const MAX_ROUNDS = 20

/** Characters of one script each; `\pL` and `.` match most of them. */
const CHARACTERS = 'aZ0 é я中_-./:=@!<"\n'
const MAX_CHARACTERS = 60

/** The states of an expression; 0 when it cannot be compiled. */
export function countPatternStates(expression: string): number {
  try {
    return compileLinearPattern(expression).states
  } catch {
    return 0
  }
}

/** Why an expression cannot be used, as a message for users; null when it can. */
export function expressionProblem(expression: string): string | null {
  const problem = patternProblem(expression)
  if (problem !== null) return problem
  const search = slowPattern(expression)
  for (const text of trialTexts(expression)) {
    const usPerCharacter = costOf(search, text)
    if (usPerCharacter > MAX_US_PER_CHARACTER)
      return `it takes ${Math.round(usPerCharacter)} µs per character of ${JSON.stringify(`${text.slice(0, 8)}…`)}, at most ${MAX_US_PER_CHARACTER} are allowed. ${search.advice}`
  }
  return null
}

/** In µs per character. The clock of a thread may have steps of several ms, so it decides over many rounds only. */
function costOf({ find }: { find: (text: string) => void }, text: string): number {
  const startedMs = performance.now()
  find(text)
  const elapsed = ((performance.now() - startedMs) * 1_000) / text.length
  if (elapsed <= MAX_US_PER_CHARACTER) return elapsed
  const startedCpuMs = threadCpuMs()
  let usedMs = 0
  let rounds = 0
  while (usedMs < MEASURED_MS && rounds < MAX_ROUNDS) {
    find(text)
    rounds++
    usedMs = threadCpuMs() - startedCpuMs
  }
  return (usedMs * 1_000) / (rounds * text.length)
}

/** Single characters, which keep repetitions alive; the expression's own text; words. */
function trialTexts(expression: string): string[] {
  const own = expression
    .replaceAll(/\\(?:x\{[^}]*\}|[pP]\{[^}]*\}|[a-zA-Z])|\{[\d,]*\}|\(\?[a-zA-Z]*[:)]|[\\^$.|?*+()[\]]/g, '')
    .slice(0, 100)
  const characters = new Set(Array.from(CHARACTERS + own).slice(0, MAX_CHARACTERS))
  const units = [...characters, own, 'word 12 ', 'aA0-', 'Proper Name ']
  return units.flatMap((unit) => (unit === '' ? [] : unit.repeat(Math.ceil(TEXT_CHARACTERS / unit.length))))
}
