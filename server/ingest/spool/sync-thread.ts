import { fdatasyncSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { errorText } from '../../platform/kernel/errors.ts'

/** The thread of file-sync.ts. Each message is a file descriptor, each answer null or why its sync failed. */
parentPort?.on('message', (file: number) => {
  try {
    fdatasyncSync(file)
    parentPort?.postMessage(null)
  } catch (error) {
    parentPort?.postMessage(errorText(error))
  }
})
