import { readSuggestions } from '../../api/suggestions.ts'
import type { QuerySource } from './source.ts'

const LIMIT = 20

/** Suggests terms of issue queries, from the issues of a project or of all. */
export const issueTermSource = (project: string | null): QuerySource => ({
  id: `issues ${project ?? ''}`,
  unit: 'issue',
  suggest: (key, prefix, signal) => readSuggestions(project, key, prefix, LIMIT, signal),
})
