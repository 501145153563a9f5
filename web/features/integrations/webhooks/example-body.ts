/** The body of a request, for the page without endpoints. */
export const EXAMPLE_BODY = JSON.stringify(
  {
    id: 'evt_01kbn2q6x4e7v9c3m8t5hw1zyd',
    type: 'signin.password.ok',
    app_id: 'app_01kbn2a0d8f5s7j3r9x6qk4mtp',
    user_id: '019a8c41-f0d2-7b1e-9c55-3f6a2e8d7b90',
    occurred_at: '2026-11-19T14:05:03.000Z',
    data: {
      email: 'ines@example.com',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      session_id: '019aa7c2-61b4-7d0f-8a3e-5c9b1f2d4e60',
      method: 'password',
    },
  },
  null,
  2,
)
