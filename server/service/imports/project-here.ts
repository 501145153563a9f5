import { readProject } from '../../projects/registry/projects.queries.ts'
import { selectThings } from './imports.queries.ts'
import type { Running } from './step.ts'

export type ProjectHere = {
  readonly id: string
  readonly number: number
  readonly sourceId: string
  readonly sourceSlug: string
}

/** The project of the position; null when it was deleted here meanwhile. */
export async function projectHere(running: Running): Promise<ProjectHere | null> {
  const { app, actor, mapping, position, sourceName } = running
  const one = mapping[position.project]
  if (one === undefined) return null
  const things = await selectThings(app.db, actor.orgId, sourceName, 'project', [one.source_id])
  const project = await readProject(app.db, actor.orgId, things.get(one.source_id)?.id ?? one.project_id ?? '')
  return project === null
    ? null
    : { id: project.id, number: project.number, sourceId: one.source_id, sourceSlug: one.source_slug }
}
