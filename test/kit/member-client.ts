import type { App } from '#server/platform/context/app.ts'
import { client, type Client } from './client.ts'
import { aPerson } from './members.ts'

export type MemberClient = Client & { readonly id: string; readonly email: string; readonly name: string }

/** Adds a member to the organisation of `of` and logs them in. */
export async function aMemberClient(
  app: App,
  url: string,
  of: Client,
  over: { name: string; role?: 'viewer' | 'member' | 'admin' | 'owner'; email?: string },
): Promise<MemberClient> {
  const { org } = (await of.get('/api/me')).as<{ org: { id: string; slug: string } }>()
  const person = await aPerson(app, { role: 'member', ...over, org })
  const one = client(url)
  for (const pair of person.cookie.split('; ')) {
    const [name = '', value = ''] = pair.split('=')
    one.cookies.set(name, value)
  }
  return { ...one, id: person.actor.userId, email: person.email, name: over.name }
}
