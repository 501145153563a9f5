import { isDeepStrictEqual } from 'node:util'
import { dropCachedProject } from '../../projects/registry/view-project.ts'
import { lockProject, updateProjectRow } from '../../projects/registry/projects.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'
import { repositoryOwners } from './ownership-settings.ts'

/** Replaces the ownership rules that the repository of a project gives. A project that is gone is left alone. */
export async function setRepositoryOwners(
  tx: Tx,
  orgId: string,
  projectId: string,
  rules: readonly OwnershipRule[],
): Promise<void> {
  const project = await lockProject(tx, orgId, projectId)
  if (project === null || isDeepStrictEqual(repositoryOwners(project.settings), rules)) return
  await updateProjectRow(tx, projectId, {
    name: project.name,
    slug: project.slug,
    settings: { ...project.settings, repository_owners: rules },
    scrubKeySealed: project.scrub_key_sealed,
  })
  await dropCachedProject(tx, projectId)
}
