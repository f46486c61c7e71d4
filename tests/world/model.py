"""A stand-in for a language model, for agents: it asks once for the agent's
shell to run a command, and when it has heard the result, it says so.  Speaks
chat completions, responses (both as OpenAI has them), messages (as Anthropic
has them), streamGenerateContent (as Google has it) and chat-stream (as Augment
has it), streamed; what it was asked goes to a log, a line each, and the keys
it was shown to another.

The command is what the prompt has between <run> and </run>."""
import json
import re

HOSTS = ('model.test', 'api.anthropic.com', 'platform.claude.com')
SHELLS = ('bash', 'Bash', 'shell', 'exec_command', 'shell_command',
          'run_shell_command', 'run_commands', 'Execute', 'launch-process')
KEYS = re.compile(r'^(?:authorization|x-api-key|x-goog-api-key): *(.*?)\r?$',
                  re.I | re.M)
RUN = re.compile(r'<run>(.*?)</run>', re.S)


def find_shell(tools):
    """Name and schema of the agent's shell, or None."""
    for t in tools or []:
        f = t.get('function', t)
        if f.get('name') in SHELLS:
            schema = (f.get('parameters') or f.get('input_schema') or
                      f.get('parametersJsonSchema') or {})
            return f['name'], schema
    return None


def filler(schema):
    """Something for an argument that the task does not care for."""
    if schema.get('enum'):
        return schema['enum'][0]
    return {'boolean': False, 'integer': 20, 'number': 20, 'array': [],
            'object': {}}.get(schema.get('type'), 'the task')


def arguments(schema, command):
    """The command in the words of this agent's shell."""
    known = schema.get('properties', {})
    key = next((k for k in ('command', 'commands') if k in known), 'cmd')
    args = {k: filler(known.get(k, {})) for k in schema.get('required', ())}
    if 'description' in known:
        args['description'] = 'the task'
    is_list = known.get(key, {}).get('type') == 'array'
    if key == 'commands':
        args[key] = [command] if is_list else command
    else:
        args[key] = ['bash', '-lc', command] if is_list else command
    return args


def plan(body, is_answered):
    """(tool, arguments) for the first turn of a task, None for the last."""
    shell = find_shell(body.get('tools'))
    found = RUN.findall(json.dumps(body))
    if not shell or not found or is_answered:
        return None
    command = json.loads(f'"{found[-1]}"')
    return shell[0], arguments(shell[1], command)


def said(text):
    """The model's last word: what the shell answered, shortened."""
    return 'The task is done. ' + text[:200]


def event(data, name=None):
    head = f'event: {name}\n' if name else ''
    text = data if isinstance(data, str) else json.dumps(data)
    return f'{head}data: {text}\n\n'.encode()


def chat(body):
    """/v1/chat/completions"""
    results = [m for m in body['messages'] if m.get('role') == 'tool']
    call = plan(body, bool(results))

    def chunk(delta, finish=None):
        return event({'id': 'c1', 'object': 'chat.completion.chunk',
                      'created': 1, 'model': body.get('model'),
                      'choices': [{'index': 0, 'delta': delta,
                                   'finish_reason': finish}]})
    if call:
        yield chunk({'role': 'assistant', 'tool_calls': [
            {'index': 0, 'id': 'call1', 'type': 'function', 'function': {
                'name': call[0], 'arguments': json.dumps(call[1])}}]})
        yield chunk({}, 'tool_calls')
    else:
        text = said(str(results[-1]['content'])) if results else 'a title'
        yield chunk({'role': 'assistant', 'content': text})
        yield chunk({}, 'stop')
    yield event('[DONE]')


def responses(body):
    """/v1/responses"""
    items = body['input'] if isinstance(body['input'], list) else []
    results = [i for i in items if i.get('type') == 'function_call_output']
    call = plan(body, bool(results))
    if call:
        item = {'type': 'function_call', 'id': 'f1', 'call_id': 'call1',
                'name': call[0], 'arguments': json.dumps(call[1]),
                'status': 'completed'}
    else:
        text = said(str(results[-1]['output'])) if results else 'a title'
        item = {'type': 'message', 'id': 'm1', 'role': 'assistant',
                'status': 'completed', 'content': [
                    {'type': 'output_text', 'text': text,
                     'annotations': []}]}
    whole = {'id': 'r1', 'object': 'response', 'created_at': 1,
             'status': 'completed', 'model': body.get('model'),
             'output': [item], 'usage': {
                 'input_tokens': 1, 'output_tokens': 1, 'total_tokens': 2,
                 'input_tokens_details': {'cached_tokens': 0},
                 'output_tokens_details': {'reasoning_tokens': 0}}}
    for kind, fields in (
            ('response.created', {'response': dict(
                whole, status='in_progress', output=[])}),
            ('response.output_item.added', {'output_index': 0,
                                            'item': item}),
            ('response.output_item.done', {'output_index': 0, 'item': item}),
            ('response.completed', {'response': whole})):
        yield event(dict(fields, type=kind), kind)


def messages(body):
    """/v1/messages"""
    results = [part for m in body['messages']
               if isinstance(m.get('content'), list) for part in m['content']
               if part.get('type') == 'tool_result']
    call = plan(body, bool(results))
    if call:
        block = {'type': 'tool_use', 'id': 'toolu_1', 'name': call[0],
                 'input': {}}
        delta = {'type': 'input_json_delta',
                 'partial_json': json.dumps(call[1])}
    else:
        text = said(str(results[-1]['content'])) if results else 'a title'
        block = {'type': 'text', 'text': ''}
        delta = {'type': 'text_delta', 'text': text}
    usage = {'input_tokens': 1, 'output_tokens': 1}
    for kind, fields in (
            ('message_start', {'message': {
                'id': 'msg_1', 'type': 'message', 'role': 'assistant',
                'model': body.get('model'), 'content': [],
                'stop_reason': None, 'stop_sequence': None,
                'usage': usage}}),
            ('content_block_start', {'index': 0, 'content_block': block}),
            ('content_block_delta', {'index': 0, 'delta': delta}),
            ('content_block_stop', {'index': 0}),
            ('message_delta', {'delta': {
                'stop_reason': 'tool_use' if call else 'end_turn',
                'stop_sequence': None}, 'usage': usage}),
            ('message_stop', {})):
        yield event(dict(fields, type=kind), kind)


def generate(body):
    """/v1beta/models/NAME:streamGenerateContent"""
    tools = [f for t in body.get('tools') or []
             for f in t.get('functionDeclarations', [])]
    parts = [p for c in body.get('contents', []) for p in c.get('parts', [])]
    results = [p['functionResponse'] for p in parts
               if 'functionResponse' in p]
    call = plan(dict(body, tools=tools), bool(results))
    if call:
        part = {'functionCall': {'name': call[0], 'args': call[1]}}
    else:
        text = said(json.dumps(results[-1].get('response'))) \
            if results else '{"text": "a title"}'
        part = {'text': text}
    yield event({'candidates': [{'index': 0, 'finishReason': 'STOP',
                                 'content': {'role': 'model',
                                             'parts': [part]}}],
                 'modelVersion': 'one', 'responseId': 'r1',
                 'usageMetadata': {'promptTokenCount': 1,
                                   'candidatesTokenCount': 1,
                                   'totalTokenCount': 2}})


def augment(body):
    """/chat-stream, as Augment has it: a line of JSON each"""
    tools = [{'name': t['name'],
              'parameters': json.loads(t['input_schema_json'])}
             for t in body.get('tool_definitions') or []]
    results = [n['tool_result_node'] for n in body.get('nodes') or []
               if n.get('tool_result_node')]
    call = plan(dict(body, tools=tools), bool(results))
    cwd = next((n['ide_state_node']['workspace_folders'][0]['folder_root']
                for n in body.get('nodes') or []
                if n.get('ide_state_node')), '.')
    if call:
        args = dict(call[1], wait=True, cwd=cwd)
        node = {'id': 1, 'type': 5, 'content': '', 'tool_use': {
            'tool_use_id': 'call1', 'tool_name': call[0],
            'input_json': json.dumps(args)}}
        answer = {'text': '', 'nodes': [node], 'stop_reason': 3}
    else:
        text = said(str(results[-1].get('content'))) if results else 'a title'
        node = {'id': 1, 'type': 0, 'content': text}
        answer = {'text': text, 'nodes': [node], 'stop_reason': 1}
    yield (json.dumps(answer) + '\n').encode()


# Asked beside the task, by the end of the path: what would do for an answer.
PLAIN = {
    '/hello': {},
    ':countTokens': {'totalTokens': 1},
    ':generateContent': {'candidates': [{
        'index': 0, 'finishReason': 'STOP', 'content': {
            'role': 'model', 'parts': [{'text': '{"text": "a title"}'}]}}]},
    '/get-models': {
        'default_model': 'one', 'languages': [], 'feature_flags': {},
        'models': [{'name': 'one', 'suggested_prefix_char_count': 1000,
                    'suggested_suffix_char_count': 1000}]},
}
PATHS = {'/chat-stream': augment, '/v1/chat/completions': chat,
         '/v1/responses': responses, '/v1/messages': messages}


async def read_body(reader, head):
    low = head.lower()
    if b'transfer-encoding: chunked' in low:
        body = b''
        while n := int(await reader.readline(), 16):
            body += (await reader.readexactly(n + 2))[:-2]
        return body
    if b'content-length: ' not in low:
        return b''
    n = int(low.split(b'content-length: ')[1].split(b'\r')[0])
    return await reader.readexactly(n)


async def serve(reader, writer, head, path, log):
    """One request; the answer ends with the connection."""
    body = await read_body(reader, head)
    with open(log, 'a') as f:
        f.write(f'{head.split(b" ")[0].decode()} {path}\n')
    with open(log + '.keys', 'a') as f:
        f.write(' '.join(KEYS.findall(head.decode('latin-1'))) + '\n')
    writer.write(b'HTTP/1.1 ')
    path = path.split('?')[0]
    answer = PATHS.get(path) or (
        generate if path.endswith(':streamGenerateContent') else None)
    plain = next((v for k, v in PLAIN.items() if path.endswith(k)), None)
    if plain is not None:
        text = json.dumps(plain).encode()
        writer.write(b'200 OK\r\nContent-Type: application/json\r\n'
                     b'Content-Length: %d\r\nConnection: close\r\n\r\n'
                     % len(text) + text)
    elif answer:
        writer.write(b'200 OK\r\nContent-Type: text/event-stream\r\n'
                     b'Connection: close\r\n\r\n')
        for part in answer(json.loads(body)):
            writer.write(part)
            await writer.drain()
    else:
        writer.write(b'404 Not Found\r\nContent-Length: 2\r\n'
                     b'Connection: close\r\n\r\n{}')
    await writer.drain()
    writer.close()
