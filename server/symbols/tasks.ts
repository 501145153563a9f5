import type { App } from '../platform/context/app.ts'
import type { Task } from '../platform/jobs/task.ts'
import { clearScratch } from './files/scratch.ts'
import { indexSymbolsTask } from './indexing/index-file-task.ts'
import { keepSymbolsTask } from './upload-protocol/keep-symbols.ts'

/** The background tasks of this district. */
export const SYMBOL_TASKS: readonly Task[] = [indexSymbolsTask, keepSymbolsTask]

/** Removes what a killed service left of files on their way. */
export const clearUploads = (app: App): Promise<void> => clearScratch(app)
