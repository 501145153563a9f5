import type { Task } from '../platform/jobs/task.ts'
import { indexSymbolsTask } from './indexing/index-file-task.ts'
import { keepSymbolsTask } from './upload-protocol/keep-symbols.ts'

/** The background tasks of this district. */
export const SYMBOL_TASKS: readonly Task[] = [indexSymbolsTask, keepSymbolsTask]
