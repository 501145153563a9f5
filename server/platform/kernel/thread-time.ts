/**
 * Processor time that this thread has used, in ms. For limits of work: unlike the time of day it does not grow while other
 * processes have the processor.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
