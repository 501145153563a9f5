import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { findAwaited, insertFeedback } from './feedback.queries.ts'

const { app, clock } = await testApp()

const about = (projectId: string, eventId: string | null) => ({
  projectId,
  receivedAt: clock.now(),
  issueId: null,
  feedback: {
    feedbackId: newEventId(),
    eventId,
    message: 'm',
    name: null,
    email: null,
    url: null,
    source: null,
    replayId: null,
    release: null,
    environment: null,
    userHash: null,
    context: null,
  },
})

test('finds the events that feedback waits for among any amount of waiting feedback', async () => {
  const [projectId, other] = [newId(), newId()]
  const [awaited, alone] = [newEventId(), newEventId()]
  const events = [
    { projectId, eventId: awaited },
    { projectId, eventId: alone },
    { projectId: other, eventId: awaited },
  ]
  await app.tx(async (tx) => {
    expect(await findAwaited(tx, events)).toEqual([])
    await insertFeedback(tx, [about(projectId, awaited), about(projectId, null)])
    expect(await findAwaited(tx, events)).toEqual([{ projectId, eventId: awaited }])
    const many = Array.from({ length: 1_000 }, () => about(projectId, newEventId()))
    await insertFeedback(tx, [...many, about(projectId, awaited)])
    expect(await findAwaited(tx, events)).toEqual([{ projectId, eventId: awaited }])
  })
})
