import { roleAtLeast } from '#shared/permissions.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { actorForLog, requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { forbidden, notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { deleteFiles, lockFile } from '../files/symbol-files.queries.ts'
import { CODE_KINDS, type SymbolKind } from '../files/symbol-kinds.api.ts'
import { announceSymbols } from '../files/announce-symbols.ts'

/**
 * Deletes a file: a member's own, or any for an admin.
 * @throws AppError not_found, forbidden (the file of another member)
 */
export async function deleteFile(
  app: App,
  actor: OrgActor,
  { projectId, fileId }: { readonly projectId: string; readonly fileId: string },
  kinds: readonly SymbolKind[],
): Promise<void> {
  await requireProject(app, actor, projectId)
  const { userId, role } = requireActingMember(actor)
  const isCode = kinds.some((kind) => CODE_KINDS.some((one) => one === kind))
  await app.tx(async (tx) => {
    const file = await lockFile(tx, projectId, kinds, fileId)
    if (file === undefined) throw notFound(isCode ? 'Source map' : 'Debug file')
    if (file.created_by !== userId && !roleAtLeast(role, 'admin'))
      throw forbidden('Another member uploaded this file. Ask that member or an admin to delete it.')
    await deleteFiles(tx, [fileId])
    await announceSymbols(tx, actor.orgId, [projectId])
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: isCode ? 'source_map.deleted' : 'dsym.deleted',
        orgId: actor.orgId,
        projectId,
        data: { name: file.name },
      },
    ])
  })
  app.log.info({ ...actorForLog(actor), project_id: projectId, file_id: fileId }, 'symbols.deleted')
}
