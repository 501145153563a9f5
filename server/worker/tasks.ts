import type { Task } from '../jobs/task.ts'

/** Everything that runs behind the scenes beside digestion. */
export const TASKS: readonly Task[] = []
