import { sendRaw } from './raw-http.ts'
import { type RawCase, smugglingCases } from './smuggling-cases.ts'
import { countAnswers, startTarget, type Target } from './target.ts'
import { claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

export type Smuggled = {
  readonly cases: number
  /** Refused cases that were not answered by one 400 and the end of the connection, with the actual result. */
  readonly notRefused: readonly string[]
  /** Answers of 500 and above, lawful cases without an answer. */
  readonly unanswered: readonly string[]
  /** Answers with a header that a client wrote. */
  readonly injected: readonly string[]
  /** Requests behind a refused one that the service counted as requests. */
  readonly seen: number
}

/** Sends raw cases one after the other and counts at the service what it read as a request. */
export async function trySmuggling(target: Target, cases: readonly RawCase[]): Promise<Smuggled> {
  const notRefused: string[] = []
  const unanswered: string[] = []
  const injected: string[] = []
  // An unknown endpoint answers 404; only the requests behind others use one.
  const before = await countAnswers(target.url, 404)
  let expected = 0
  for (const one of cases) {
    // Lawful connections stay open for the next request: one answer is enough, or all that come within a moment. Some
    // echoes never come, which is no fault.
    const answer = await sendRaw(target.url, one.bytes, {
      patienceMs: one.want === 'echo' ? 2_000 : 30_000,
      oneAnswer: one.want === 'echo',
      ...(one.want === 'lawful' ? { momentMs: 150 } : {}),
    })
    const got = `${one.name}: ${answer.statuses.join(', ') || 'nothing'}${answer.closed ? '' : ', left open'}`
    if (one.want === 'refused' && !(answer.closed && answer.statuses.length === 1 && answer.statuses[0] === 400))
      notRefused.push(got)
    if (answer.statuses.some((status) => status >= 500)) unanswered.push(got)
    if (one.want === 'lawful' && answer.statuses.length === 0 && !answer.closed) unanswered.push(got)
    if (/^x-injected/im.test(answer.text)) injected.push(got)
    if (one.want === 'echo' && /\/api\/\d+\/a%/.test(one.name)) expected++
  }
  const seen = (await countAnswers(target.url, 404)) - before - expected
  return { cases: cases.length, notRefused, unanswered, injected, seen }
}

/** T-14. Claim: invalid or ambiguous HTTP is 400 and the end of the connection; nothing behind it is read. */
export async function smuggling({ seed }: TortureArgs): Promise<Verdict> {
  const { service, project, url } = await startTarget()
  try {
    const target = { url, project }
    const cases = smugglingCases(target, seed)
    const found = await trySmuggling(target, cases)
    for (const line of [...found.notRefused, ...found.unanswered, ...found.injected].slice(0, 20)) print(`  ${line}`)
    const refused = cases.filter(({ want }) => want === 'refused').length
    return {
      claims: [
        claim(
          `${refused} of ${cases.length} raw cases: 400 once and closed`,
          refused - found.notRefused.length,
          found.notRefused.length === 0,
        ),
        none('second requests seen by the service', found.seen),
        none('headers injected into an answer', found.injected.length),
        none('lawful cases unanswered, or 5xx', found.unanswered.length),
      ],
    }
  } finally {
    await service.stop()
  }
}
