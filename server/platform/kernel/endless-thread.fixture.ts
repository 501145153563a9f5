import { invalid } from './errors.ts'
import { serveThread } from './thread-task.ts'

/** Body of a thread for tests: answers, refuses, fails, or never comes back. */
serveThread((request: 'name' | 'refuse' | 'fail' | 'never'): string => {
  if (request === 'refuse') throw invalid('no.')
  if (request === 'fail') throw new TypeError('a fault')
  let turns = 0
  while (request === 'never') turns++
  return `answer ${turns}`
})
