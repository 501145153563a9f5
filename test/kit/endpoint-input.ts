/** A webhook endpoint that asks for all events and nothing special; its address comes with it. */
export const ENDPOINT = {
  events: [],
  description: '',
  ordering: 'none',
  max_per_second: null,
  auto_pause: false,
  standard_headers: false,
  headers: null,
} as const
