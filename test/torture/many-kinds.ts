import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { countStored, envelopePath, startTarget, waitUntilDigested } from './target.ts'
import { atMost, claim, print, type TortureArgs, type Verdict } from './torture.ts'

const Intake = z.object({ limits: z.object({ new_issues: z.object({ used_this_hour: z.number() }) }) })
const Issues = z.object({ items: z.array(z.object({ title: z.string(), event_count: z.number() })), total: z.number() })

/**
 * T-49. Claim: events whose fingerprints are all different create as many issues as the budget of their project has, and
 * all others are counted in one issue.
 */
export async function manyKinds({ full }: TortureArgs): Promise<Verdict> {
  const [events, budget] = full ? [50_000, 5_000] : [6_000, 1_000]
  const { service, project, url } = await startTarget()
  const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method,
      headers: { cookie: project.cookie, origin: url, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  try {
    await api('PATCH', `/api/projects/${project.projectId}/settings`, {
      new_issues_per_hour: budget,
      new_issues_per_day: budget * 4,
    })
    let [sent, accepted] = [0, 0]
    const writer = async (): Promise<void> => {
      while (sent < events) {
        const kind = `Kind${inLetters(sent++)}`
        const body = `{}\n{"type":"event"}\n${JSON.stringify({ exception: { values: [{ type: kind, value: 'x' }] } })}`
        const answer = await fetch(url + envelopePath({ url, project }), { method: 'POST', body })
        if (answer.status === 200) accepted++
        else await delay(20)
      }
    }
    await Promise.all(Array.from({ length: 32 }, writer))
    await waitUntilDigested(url)
    const stored = await countStored(url)
    const { limits } = Intake.parse(await api('GET', `/api/projects/${project.projectId}/intake`))
    const all = Issues.parse(await api('GET', `/api/issues?projectId=${project.projectId}&sort=-event_count&limit=1`))
    const [largest] = all.items
    print(
      `  ${accepted} events of different kinds: ${all.total} issues, the largest with ${largest?.event_count} events`,
    )
    return {
      claims: [
        claim('0 accepted events lost', accepted - stored, accepted === stored && accepted > budget),
        // The list stops counting at 10,000; the clock may have reached another hour.
        atMost('issues', 2 * budget + 1, all.total),
        atMost('issues of this hour', budget, limits.new_issues.used_this_hour),
        claim(
          'the others are in one issue',
          `${largest?.title}, ${largest?.event_count}`,
          largest?.title === 'Too many new issues' && largest.event_count >= accepted - 2 * budget,
        ),
      ],
    }
  } finally {
    await service.stop()
  }
}

/** Without digits, which grouping leaves out. */
const inLetters = (n: number): string =>
  n.toString(16).replace(/./g, (digit) => 'abcdefghijklmnop'.charAt(Number.parseInt(digit, 16)))
