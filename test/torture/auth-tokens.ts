import { client } from '#test/kit/client.ts'
import { aPerson } from '#test/kit/members.ts'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { forgedTokens } from './forged-tokens.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows about access tokens. */
export const rows: readonly AuthRow[] = [
  { id: 'T-27', summary: 'forged access tokens, as cookie and as bearer', run: forgeries },
]

async function forgeries({ app, urls }: AuthWorld): Promise<readonly Claim[]> {
  const victim = await aPerson(app)
  const forged = await forgedTokens(app, victim, await aPerson(app))
  const answered: string[] = []
  for (const { name, token } of forged)
    for (const url of urls)
      for (const [header, value] of [
        ['cookie', `svc_access=${token}`],
        ['authorization', `Bearer ${token}`],
      ] as const) {
        const { status } = await client(url).request('GET', '/api/me', { headers: { [header]: value } })
        if (status !== 401) answered.push(`${name}: ${status}`)
      }
  const honest = await Promise.all(
    urls.map(async (url) => client(url).request('GET', '/api/me', { headers: { cookie: victim.cookie } })),
  )
  return [
    atLeast('forgeries', 60, forged.length),
    none(`answers other than 401${answered.length === 0 ? '' : ` (${answered.join(', ')})`}`, answered.length),
    none('refusals of the session whose tokens they were', honest.filter(({ status }) => status !== 200).length),
  ]
}
