import { membersByLogin, selectMembersByEmail } from '../../identity/team/members.queries.ts'
import { setRepositoryOwners } from '../../issues/ownership/set-repository-owners.ts'
import type { App } from '../../platform/context/app.ts'
import { changeCodeHost, type CodeHostRow } from './code-hosts.queries.ts'
import { type FindOwner, type OwnersLine, parseCodeowners, compileOwners } from './codeowners.ts'
import type { HostClient } from './vendor.ts'
import { findVendor } from './vendors.ts'
import { readRoots } from './view-code-host.ts'

/**
 * Makes ownership rules of the CODEOWNERS file.
 * @returns how many; null without a file
 * @throws HostError
 */
export async function readOwners(
  app: App,
  host: CodeHostRow,
  client: HostClient,
  branch: string,
): Promise<number | null> {
  const vendor = findVendor(host.provider)
  let found: { path: string; text: string } | null = null
  for (const path of vendor.ownersPaths) {
    const text = await vendor.readText(client, branch, path)
    if (text !== null) {
      found = { path, text }
      break
    }
  }
  const lines = found === null ? [] : parseCodeowners(found.text)
  const { rules, unknown } = compileOwners(lines, await finderOf(app, host.org_id, lines), readRoots(host))
  await app.tx(async (tx) => {
    await setRepositoryOwners(tx, host.org_id, host.project_id, rules)
    await changeCodeHost(tx, host.project_id, {
      owners_path: found?.path ?? null,
      owners_rules: rules.length,
      owners_unknown: JSON.stringify(unknown),
      owners_read_at: app.clock.now(),
    })
  })
  return found === null ? null : rules.length
}

/** Members by address and by the account with which they sign in; `@acme/checkout` is a team. */
async function finderOf(app: App, orgId: string, lines: readonly OwnersLine[]): Promise<FindOwner> {
  const owners = [...new Set(lines.flatMap((line) => line.owners))]
  const emails = owners.filter((owner) => !owner.startsWith('@')).map((owner) => owner.toLowerCase())
  const logins = owners.filter((owner) => /^@[^/]+$/.test(owner)).map((owner) => owner.slice(1).toLowerCase())
  const [byEmail, byLogin] = await Promise.all([
    selectMembersByEmail(app.db, orgId, emails),
    membersByLogin(app.db, orgId, logins),
  ])
  const members = new Map([
    ...byEmail.map(({ email, id }): [string, string] => [email, id]),
    ...[...byLogin].map(([login, { id }]): [string, string] => [`@${login}`, id]),
  ])
  return (owner) => {
    const userId = members.get(owner.toLowerCase())
    if (userId !== undefined) return { userId }
    return owner.startsWith('@') && owner.includes('/')
      ? { team: owner.slice(owner.lastIndexOf('/') + 1).slice(0, 60) }
      : null
  }
}
