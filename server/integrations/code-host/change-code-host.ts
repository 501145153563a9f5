import type { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { aboutCodeHost } from './about-code-host.ts'
import type { CodeHost, codeHostRoutes } from './code-host.api.ts'
import { changeCodeHost as writeCodeHost, lockCodeHost, selectCodeHost } from './code-hosts.queries.ts'
import { wantRepository } from './read-repository-job.ts'
import { tokenPlace } from './secrets.ts'
import { tryToken } from './try-token.ts'
import { readRoots, viewCodeHost } from './view-code-host.ts'

type Input = z.output<(typeof codeHostRoutes)['changeCodeHost']['body']> & { readonly projectId: string }

/** @throws AppError not_found, invalid (the token), rate_limited or unavailable (the code host) */
export async function changeCodeHost(app: App, actor: OrgActor, input: Input): Promise<CodeHost> {
  const { projectId, access_token: token, source_roots: roots, reads_owners: readsOwners } = input
  await requireProject(app, actor, projectId)
  const row = await selectCodeHost(app.db, projectId)
  if (row === undefined) throw notFound('Code host')
  const { provider, repository_url: url } = row
  const branch = token == null ? null : await tryToken(app, { provider, url, token, projectId })
  await app.tx(async (tx) => {
    const before = await lockCodeHost(tx, projectId)
    // It was connected to another repository meanwhile, for which nothing was tried.
    if (before === undefined || before.id !== row.id) throw notFound('Code host')
    const sealer = await orgSealer(app, actor.orgId, tx)
    const found = readRoots(before).filter(({ by }) => by === 'found')
    const typed = roots?.map((root) => ({ ...root, by: 'member' as const, matched: 0, tried: 0 }))
    await writeCodeHost(tx, projectId, {
      updated_at: app.clock.now(),
      // Rules of CODEOWNERS name paths as frames show them.
      ...(typed === undefined ? {} : { source_roots: JSON.stringify([...typed, ...found]), owners_read_at: null }),
      ...(readsOwners === undefined ? {} : { reads_owners: readsOwners }),
      ...(token === undefined
        ? {}
        : {
            token_sealed: token === null ? null : sealer.seal(Buffer.from(token), tokenPlace(actor.orgId, before.id)),
            ...(branch === null ? {} : { default_branch: branch }),
            broken_at: null,
            error: null,
            error_at: null,
            slowed_until: null,
          }),
    })
    await wantRepository(tx, projectId)
    const fields = Object.entries({ access_token: token, source_roots: roots, reads_owners: readsOwners }).flatMap(
      ([name, value]) => (value === undefined ? [] : [name]),
    )
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'integration.codehost.updated',
        ...aboutCodeHost({ ...actor, id: before.id, projectId, url }),
        data: { fields },
      },
    ])
  })
  return viewCodeHost(app, actor, projectId)
}
