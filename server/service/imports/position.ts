import { z } from 'zod'

/** Where an import continues: a phase, the project among those taken, and the page of the source. */
export const Position = z.object({
  phase: z.enum(['projects', 'members', 'releases', 'rules', 'issues', 'done']),
  project: z.number().int(),
  cursor: z.string().nullable(),
})
export type Position = z.infer<typeof Position>

export const FIRST: Position = { phase: 'projects', project: 0, cursor: null }

/** Phases of each project, after `projects` and `members`, which are of the organisation. */
const OF_PROJECT = ['releases', 'rules', 'issues'] as const

/** The position after a phase of a project. @param projects how many are taken */
export function nextPosition({ phase, project }: Position, projects: number): Position {
  if (phase === 'projects')
    return project + 1 < projects ? { phase, project: project + 1, cursor: null } : { ...FIRST, phase: 'members' }
  if (phase === 'members') return projects === 0 ? DONE : { ...FIRST, phase: 'releases' }
  const at = OF_PROJECT.findIndex((one) => one === phase)
  const next = OF_PROJECT[at + 1]
  if (at !== -1 && next !== undefined) return { phase: next, project, cursor: null }
  return at !== -1 && project + 1 < projects ? { phase: 'releases', project: project + 1, cursor: null } : DONE
}

const DONE: Position = { phase: 'done', project: 0, cursor: null }
