import type { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { newSecret } from '../../platform/requests/signing-secret.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { aboutCodeHost } from './about-code-host.ts'
import type { codeHostRoutes } from './code-host.api.ts'
import { changeCodeHost, deleteCodeHost, insertCodeHost, lockCodeHost, lockProjectRow } from './code-hosts.queries.ts'
import { wantRepository } from './read-repository-job.ts'
import { readRepositoryUrl } from './repository-url.ts'
import { secretPlace, tokenPlace } from './secrets.ts'
import { tryToken } from './try-token.ts'
import { webhookUrl } from './view-code-host.ts'

type Input = z.output<(typeof codeHostRoutes)['connectCodeHost']['body']> & { readonly projectId: string }
type Connected = z.infer<(typeof codeHostRoutes)['connectCodeHost']['response']>

/**
 * Connects the repository of a project, or renews the secret of its webhook.
 * @throws AppError not_found, invalid (address, provider, token), rate_limited or unavailable (the code host)
 */
export async function connectCodeHost(app: App, actor: OrgActor, input: Input): Promise<Connected> {
  const { projectId, access_token: token } = input
  await requireProject(app, actor, projectId)
  const { url, provider } = readRepositoryUrl(input.repository_url, input.provider)
  app.egress.checkUrl(url)
  const branch = token === undefined ? null : await tryToken(app, { provider, url, token, projectId })
  const secret = newSecret()
  await app.tx(async (tx) => {
    if ((await lockProjectRow(tx, actor.orgId, projectId)) === undefined) throw notFound('Project')
    const before = await lockCodeHost(tx, projectId)
    const isSame = before !== undefined && before.repository_url === url && before.provider === provider
    if (before !== undefined && !isSame) await deleteCodeHost(tx, projectId)
    const sealer = await orgSealer(app, actor.orgId, tx)
    const now = app.clock.now()
    const id = isSame ? before.id : newId()
    const values = {
      secret_sealed: sealer.seal(Buffer.from(secret), secretPlace(actor.orgId, id)),
      secret_at: now,
      updated_at: now,
      refused_at: null,
      ...(token === undefined
        ? {}
        : {
            token_sealed: sealer.seal(Buffer.from(token), tokenPlace(actor.orgId, id)),
            default_branch: branch,
            broken_at: null,
            error: null,
            error_at: null,
          }),
    }
    if (isSame) await changeCodeHost(tx, projectId, values)
    else
      await insertCodeHost(tx, {
        id,
        org_id: actor.orgId,
        project_id: projectId,
        provider,
        repository_url: url,
        created_at: now,
        ...values,
      })
    if (token !== undefined) await wantRepository(tx, projectId)
    const fields = [
      'webhook_secret',
      ...(isSame ? [] : ['repository_url']),
      ...(token === undefined ? [] : ['access_token']),
    ]
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'integration.codehost.updated', ...aboutCodeHost({ ...actor, id, projectId, url }), data: { fields } },
    ])
  })
  return { repository_url: url, webhook_secret: secret, webhook_url: webhookUrl(app, projectId), provider }
}
