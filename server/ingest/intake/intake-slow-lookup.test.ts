import { expect, test } from 'vitest'
import { SAMPLE_KEY, SAMPLE_PROJECT } from '#test/kit/samples.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { seedProject, testIntake } from './intake.fixture.ts'

const { app, onClose } = await testApp()
await seedProject(app, { number: SAMPLE_PROJECT, publicKey: SAMPLE_KEY })
const intake = await testIntake(app, { bodyTimeoutMs: 200 })
onClose(() => intake.close())

// A second answer to one request would be an unhandled rejection, which ends the process and fails the test.
test('a request whose key is found only after its time limit is answered once', async () => {
  const blocker = await app.db.reserve()
  await blocker.query('begin')
  await blocker.query('lock table project_keys in access exclusive mode')
  const event = encodeURIComponent('{"message":"x"}')
  const late = intake.send({
    method: 'GET',
    url: `/api/${SAMPLE_PROJECT}/store/?sentry_key=${SAMPLE_KEY}&sentry_data=${event}`,
  })
  expect((await late).status).toBe(400)
  await blocker.query('rollback')
  blocker.release()
  await waitFor('the look-up to end', () => intake.intake.counters.accepted === 1)
})
