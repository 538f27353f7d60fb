"""Chats: messages become ids by the template of the model, and content never becomes a role.

marked       texts that know their origin
environment  templates in Jinja, whose texts are marked
inputs       what a template gets to see
functions    functions as tools
rendering    the text of a chat
control      the special tokens that the template wrote, and an encoding without others
encoding     the ids of chats
mask         what the assistant said
chat         `Chat`, the result
callable     the methods of `Tokenizer`
"""
