import { expect, test } from 'vitest'
import { formOf, payloadOf, signedRequest } from '#test/kit/chat-platform.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { testServer } from '#test/kit/test-server.ts'

const t = await testServer()

test.each(['', 'a signing secret of the chat'])(
  'without CHAT_SIGNING_SECRET every request gets 401',
  async (secret) => {
    const { headers, body } = signedRequest(formOf(payloadOf('acknowledge', newId(), 'U1')), t.clock.now(), { secret })
    const response = await fetch(`${t.url}/api/integrations/chat/interactive`, { method: 'POST', headers, body })
    expect(response.status).toBe(401)
  },
)
